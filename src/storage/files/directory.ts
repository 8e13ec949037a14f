import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { FileStore } from './file-store.ts'

/** Files in a folder of this machine, which must be there; readable by their owner only. */
export function createDirectoryFiles(folder: string): FileStore {
  return {
    write: (name, content) => pipeline(content, createWriteStream(join(folder, name), { mode: 0o600 })),
    remove: name => rm(join(folder, name), { force: true }),
    locate: name => ({ kind: 'directory', path: join(folder, name) }),
  }
}
