/** Regroups the bytes in parts of `size`; only the last can be smaller. Holds about two parts at a time. */
export async function* inParts(content: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Buffer> {
  let waiting: Uint8Array[] = []
  let length = 0
  for await (const chunk of content) {
    waiting.push(chunk)
    length += chunk.length
    if (length < size) continue
    let bytes = Buffer.concat(waiting)
    for (; bytes.length >= size; bytes = bytes.subarray(size)) yield bytes.subarray(0, size)
    waiting = [bytes]
    length = bytes.length
  }
  if (length > 0) yield Buffer.concat(waiting)
}
