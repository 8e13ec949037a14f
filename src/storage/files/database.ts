import { type Kysely, sql } from 'kysely'
import type { AgentTables } from '../tables.ts'
import type { FileStore } from './file-store.ts'
import { inParts } from './in-parts.ts'

/** Bytes of a part; a statement carries one part, so neither side ever holds a whole file in memory. */
const partSize = 256 * 1024

interface Dependencies {
  db: Kysely<AgentTables>
  /** `path` of the same agent's `OpenAgent`. */
  path: string
}

/** Files in parts, in the database of their agent. */
export function createDatabaseFiles({ db, path }: Dependencies): FileStore {
  return {
    async write(name, content) {
      let number = 0
      for await (const part of inParts(content, partSize)) {
        await db.insertInto('file_parts').values({ file_id: name, number, content: part }).execute()
        number += 1
      }
    },
    async remove(name) {
      await db.deleteFrom('file_parts').where('file_id', '=', name).execute()
    },
    async sizeOf(name) {
      const { size } = await db
        .selectFrom('file_parts')
        .select(sql<number | null>`sum(octet_length(content))`.as('size'))
        .where('file_id', '=', name)
        .executeTakeFirstOrThrow()
      return size === null ? undefined : Number(size)
    },
    async *read(name, { start, end }) {
      const first = Math.floor(start / partSize)
      let at = first * partSize
      for await (const part of fileParts(db, name, first)) {
        if (at >= end) return
        yield part.subarray(Math.max(0, start - at), end - at)
        at += partSize
      }
    },
    locate: name => ({ kind: 'database', database: path, name }),
  }
}

/** Yields the parts of a file from number `first`, each read on demand; none if there is no such file. */
export async function* fileParts(
  db: Kysely<AgentTables>,
  name: string,
  first = 0,
): AsyncGenerator<Uint8Array> {
  for (let number = first; ; number += 1) {
    const part = await db
      .selectFrom('file_parts')
      .select('content')
      .where('file_id', '=', name)
      .where('number', '=', number)
      .executeTakeFirst()
    if (part === undefined) return
    yield part.content
  }
}
