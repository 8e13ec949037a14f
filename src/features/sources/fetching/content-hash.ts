import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Fetched } from './parse-fetched.ts'

/** A few milliseconds of work, between which the event loop may do other things. */
const bytesAtOnce = 1024 * 1024

/** Identifies this content: SHA-256 in hex. */
export async function contentHash({
  bytes,
  contentType,
}: Pick<Fetched, 'bytes' | 'contentType'>): Promise<string> {
  const hash = createHash('sha256').update(`${contentType}\n`)
  for (let start = 0; start < bytes.length; start += bytesAtOnce) {
    hash.update(bytes.subarray(start, start + bytesAtOnce))
    await nextTurn()
  }
  return hash.digest('hex')
}
