/** Changes the data of an event stream, which comes in whole events. */
export async function* withData(
  stream: AsyncIterable<Uint8Array>,
  read: (data: string) => string,
): AsyncGenerator<Uint8Array> {
  for await (const events of stream) {
    const text = new TextDecoder().decode(events)
    yield new TextEncoder().encode(text.replace(/^(data: ?)(.*)$/gm, (_, field, data) => field + read(data)))
  }
}
