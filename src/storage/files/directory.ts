import { createReadStream, createWriteStream } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { FileStore } from './file-store.ts'
import { unlessMissing } from './read-file.ts'

/**
 * Matches the names that this service generates. A database copied from elsewhere can contain others, which
 * could point outside the folder.
 */
const namePattern = /^[A-Za-z0-9_-]+$/

/** Files in a local folder, which must exist; readable by their owner only. */
export function createDirectoryFiles(folder: string): FileStore {
  function pathOf(name: string): string {
    if (!namePattern.test(name)) throw new Error(`not a name of a file: ${JSON.stringify(name)}`)
    return join(folder, name)
  }
  return {
    // The file is flushed to disk before anything is written that relies on it.
    write: async (name, content) =>
      await pipeline(content, createWriteStream(pathOf(name), { mode: 0o600, flush: true })),
    remove: async name => await rm(pathOf(name), { force: true }),
    sizeOf: async name => (await stat(pathOf(name)).catch(unlessMissing))?.size,
    async *read(name, { start, end }) {
      if (start < end) yield* createReadStream(pathOf(name), { start, end: end - 1 })
    },
    locate: name => ({ kind: 'directory', path: pathOf(name) }),
  }
}
