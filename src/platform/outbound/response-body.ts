/**
 * Reads a body to its end; undefined, and the rest unread, as soon as it is longer than `maxBytes`.
 * One growing buffer: a list of a million one-byte pieces would cost hundreds of times their size.
 */
export async function readBody(
  stream: AsyncIterable<Uint8Array> | null,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const buffer = new ArrayBuffer(0, { maxByteLength: maxBytes })
  for await (const piece of stream ?? []) {
    const start = buffer.byteLength
    if (start + piece.byteLength > maxBytes) return undefined
    buffer.resize(start + piece.byteLength)
    new Uint8Array(buffer).set(piece, start)
  }
  return new Uint8Array(buffer.transferToFixedLength())
}

/** The body as text in the character set of its Content-Type; UTF-8 where that names none, or one nobody knows. */
export function decodeText(body: Uint8Array, contentType: string | null): string {
  const label = /;\s*charset="?([^\s;"]+)/i.exec(contentType ?? '')?.[1] ?? 'utf-8'
  return decoderOf(label).decode(body)
}

function decoderOf(label: string) {
  try {
    return new TextDecoder(label)
  } catch {
    return new TextDecoder()
  }
}
