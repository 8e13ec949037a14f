import { createReadStream } from 'node:fs'
import { access } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import type { OpenAgent } from '../engine.ts'
import { fileParts } from '../files/database.ts'

/** The uploads of an agent, read in parts however large they are. */
export interface AgentFiles {
  /** Returns undefined if there is no such file. */
  read(name: string): Promise<AsyncIterable<Uint8Array> | undefined>
  write(name: string, content: Readable): Promise<void>
}

export function agentFiles({ db, files }: Pick<OpenAgent, 'db' | 'files'>): AgentFiles {
  return {
    write: (name, content) => files.write(name, content),
    async read(name) {
      const location = files.locate(name)
      if (location.kind === 'database') return fileParts(db, name)
      if (location.kind === 'directory') return await readFile(location.path)
      throw new Error('files in a bucket are no part of what is copied')
    },
  }
}

async function readFile(path: string): Promise<AsyncIterable<Uint8Array> | undefined> {
  try {
    await access(path)
  } catch {
    return undefined
  }
  return createReadStream(path)
}
