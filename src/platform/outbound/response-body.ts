/** Reads a body to its end; returns undefined, and leaves the rest, once it is longer than `maxBytes`. */
export async function readBody(
  stream: AsyncIterable<Uint8Array> | null,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const { body, isWhole } = await readBeginning(stream, maxBytes)
  return isWhole ? body : undefined
}

/**
 * Returns the first `maxBytes` of a body, with `isWhole` if that is all; the rest is left unread. One buffer
 * grows by doubling: a list of a million one-byte pieces would cost hundreds of times their size.
 */
export async function readBeginning(
  stream: AsyncIterable<Uint8Array> | null,
  maxBytes: number,
): Promise<{ body: Uint8Array<ArrayBuffer>; isWhole: boolean }> {
  let buffer = new ArrayBuffer(Math.min(firstBytes, maxBytes))
  let start = 0
  let isWhole = true
  for await (const piece of stream ?? []) {
    const end = Math.min(start + piece.byteLength, maxBytes)
    if (end > buffer.byteLength) buffer = buffer.transfer(Math.min(Math.max(end, 2 * start), maxBytes))
    new Uint8Array(buffer).set(piece.subarray(0, end - start), start)
    isWhole = piece.byteLength === end - start
    start = end
    if (!isWhole) break
  }
  return { body: new Uint8Array(buffer.transfer(start)), isWhole }
}

/** Initial size: most pages have no more. */
const firstBytes = 64 * 1024

/** Returns the body as text in the character set of its Content-Type; UTF-8 without a known one. */
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
