import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Fetched } from './parse-fetched.ts'

/** Takes a few milliseconds; then the event loop continues. */
const bytesAtOnce = 1024 * 1024

/** Returns the SHA-256 of the content in hex, as its id. */
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
