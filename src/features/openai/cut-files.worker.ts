/** The part that runs in a thread of the worker pool; the other side is `large-bodies.ts`. */
import { hash } from 'node:crypto'
import { bytesOfBase64 } from '#platform/base64.ts'
import { AppError } from '#platform/errors.ts'
import { endOfString } from '#platform/json-depth.ts'
import { moved } from '#platform/workers/moved.ts'

/** A large body without its files. */
export interface CutBody {
  json: string
  /** The files that were cut out, by the texts that are in their places. */
  files: ReadonlyMap<string, Uint8Array<ArrayBuffer>>
}

/** Characters of a text that may be a file. */
const minLength = 10_000
/** Bytes of a body without its files, which the event loop still reads at once. */
const maxRest = 4 * 1024 * 1024
const beforeFile = /"(?:url|image_url|file_data)"\s*:\s*$/

/** Returns a `CutBody`. Throws PAYLOAD_TOO_LARGE. */
export function cutFiles(parts: readonly Uint8Array[]): unknown {
  // The relevant characters are ASCII, which other bytes of UTF-8 never look like.
  const body = Buffer.concat(parts).toString('latin1')
  const files = new Map<string, Uint8Array<ArrayBuffer>>()
  let rest = ''
  let from = 0
  for (let start = body.indexOf('"'); start !== -1; ) {
    const end = endOfString(body, start)
    const isFile = end - start > minLength && beforeFile.test(body.slice(Math.max(0, start - 50), start))
    const content = isFile ? bytesOfBase64(body.slice(start + 1, end).replaceAll('\\/', '/')) : undefined
    if (content !== undefined) {
      const mark = `sha256:${hash('sha256', content)}`
      // A copy, as the buffer may be one that others share.
      files.set(mark, new Uint8Array(content))
      rest += `${body.slice(from, start)}"${mark}"`
      from = end + 1
    }
    start = body.indexOf('"', end + 1)
  }
  rest += body.slice(from)
  if (rest.length > maxRest)
    throw new AppError(
      'PAYLOAD_TOO_LARGE',
      'Beside its images and files, a request may have 4 MiB: send long texts as files.',
    )
  const json = Buffer.from(rest, 'latin1').toString()
  const buffers = Array.from(files.values(), ({ buffer }) => buffer)
  return moved({ json, files }, buffers)
}
