/** Matches the data lines of an event (HTML Living Standard, 9.2.6); other line breaks are within lines. */
const dataLines = /(?<![^\r\n])data(?::[^\r\n]*)?(?:(?:\r\n|\r|\n)data(?::[^\r\n]*)?)*(?![^\r\n])/g

/** Changes the data of an event stream, which arrives in whole events. */
export async function* withData(
  stream: AsyncIterable<Uint8Array>,
  read: (data: string) => string,
): AsyncGenerator<Uint8Array> {
  for await (const events of stream) {
    const text = new TextDecoder().decode(events)
    yield new TextEncoder().encode(text.replace(dataLines, lines => changed(lines, read)))
  }
}

function changed(lines: string, read: (data: string) => string): string {
  const data = lines.split(/\r\n|\r|\n/).map(line => line.replace(/^data:? ?/, ''))
  return read(data.join('\n')).replaceAll(/^|\n/g, '$&data: ')
}
