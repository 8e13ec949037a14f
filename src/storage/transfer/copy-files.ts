import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { sql } from 'kysely'
import type { AgentFiles } from './agent-files.ts'
import { createDigest, type Part } from './digest.ts'
import { readPages } from './pages.ts'
import type { AnyDatabase } from './storage-end.ts'

interface Place {
  db: AnyDatabase
  files: AgentFiles
}

export async function copyFiles(source: Place, target: Pick<Place, 'files'>): Promise<Part> {
  return await readFiles(source, async (name, content) => {
    await target.files.write(name, Readable.from(content, { objectMode: false }))
  })
}

/**
 * Reads the files of all sources and messages and returns their digest. `onFile` has to read the whole
 * content of each. A file that is missing, or stored elsewhere, is so on both sides and counts as missing; so
 * does an empty one, because databases store no part of it.
 */
export async function readFiles(
  { db, files }: Place,
  onFile: (name: string, content: AsyncIterable<Uint8Array>) => Promise<void> = readToEnd,
): Promise<Part> {
  const digest = createDigest('uploads')
  const missing: string[] = []
  for await (const page of readNames(db))
    for (const value of page) {
      const name = String(value)
      const content = await files.read(name)
      const sum = createSum()
      if (content !== undefined) await onFile(name, sum.pass(content))
      if (sum.bytes() > 0) digest.add({ name, sha256: sum.sha256() })
      else {
        digest.note({ missing: name })
        missing.push(name)
      }
    }
  return { ...digest.part(), missing }
}

/** Yields the names of the files of sources, then those of messages. */
async function* readNames(db: AnyDatabase): AsyncGenerator<unknown[]> {
  for (const [table, column] of [
    ['sources', 'file_path'],
    ['chat_files', 'id'],
  ] as const) {
    const where = sql`${sql.ref(column)} is not null`
    for await (const page of readPages(db, { table, columns: [column], key: ['id'], where }))
      yield page.map(row => row[column])
  }
}

/** Hashes bytes as they pass. */
function createSum() {
  const hash = createHash('sha256')
  let length = 0
  return {
    async *pass(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      for await (const bytes of content) {
        hash.update(bytes)
        length += bytes.length
        yield bytes
      }
    },
    bytes: () => length,
    sha256: () => hash.digest('hex'),
  }
}

async function readToEnd(_name: string, content: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _bytes of content);
}
