/** Multipart forms (RFC 7578), as browsers write them. */
import { createHash } from 'node:crypto'

export interface EncodedBody {
  contentType: string
  body: string | Uint8Array<ArrayBuffer>
}

export interface Part {
  name: string
  filename?: string | undefined
  /** Must not hold a line break. */
  contentType?: string | undefined
  content: string | Uint8Array
}

const boundaryLength = 32

export function encodeMultipart(parts: readonly Part[]): EncodedBody {
  const written = parts.map(part => [Buffer.from(headOf(part)), Buffer.from(part.content)] as const)
  const boundary = boundaryFor(written.flat())
  const pieces = written.flatMap(([head, content]) => [
    Buffer.from(`--${boundary}\r\n`),
    head,
    Buffer.from('\r\n\r\n'),
    content,
    Buffer.from('\r\n'),
  ])
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: new Uint8Array(Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)])),
  }
}

function headOf({ name, filename, contentType }: Part): string {
  const file = filename === undefined ? '' : `; filename="${quoted(filename)}"`
  const disposition = `Content-Disposition: form-data; name="${quoted(name)}"${file}`
  return contentType === undefined ? disposition : `${disposition}\r\nContent-Type: ${contentType}`
}

/** Quotes a name by the HTML standard, so that no name can begin a header or part of its own. */
function quoted(name: string): string {
  return name.toWellFormed().replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22')
}

/** Derives a boundary from the parts: equal calls give equal requests, and no value can include it. */
function boundaryFor(pieces: readonly Buffer[]): string {
  const hash = createHash('sha256')
  for (const piece of pieces) hash.update(`${piece.length}:`).update(piece)
  return `form-${hash.digest('hex').slice(0, boundaryLength)}`
}
