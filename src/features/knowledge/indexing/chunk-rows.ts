import type { Kysely } from 'kysely'
import type { Chunk } from '#documents/chunking/chunk-document.ts'
import { prepareQuery, type ValueOf } from '#platform/prepared-query.ts'
import type { AgentTables } from '#storage/tables.ts'

export type ChunkRow = ReturnType<typeof chunkRow>

export function chunkRow(place: { id: string; source_id: string; document: string }, chunk: Chunk) {
  const { content, page, section, start, end } = chunk
  return { ...place, content, page, section, start_offset: start, end_offset: end }
}

/** Stores chunks in this order, and returns their sequences. */
export async function insertChunks(db: Kysely<AgentTables>, rows: readonly ChunkRow[]): Promise<number[]> {
  const [only, ...others] = rows
  if (only === undefined) return []
  const added =
    others.length === 0
      ? await insertOne(db, only)
      : await db.insertInto('chunks').values(rows).returning('sequence').execute()
  // Sequences ascend with the rows, but no engine promises to return them in that order.
  return added.map(({ sequence }) => Number(sequence)).toSorted((one, other) => one - other)
}

const insertOne = prepareQuery((db: Kysely<AgentTables>, value: ValueOf<keyof ChunkRow>) =>
  db
    .insertInto('chunks')
    .values({
      id: value('id'),
      source_id: value('source_id'),
      document: value('document'),
      content: value('content'),
      page: value<number>('page'),
      section: value('section'),
      start_offset: value<number>('start_offset'),
      end_offset: value<number>('end_offset'),
    })
    .returning('sequence'),
)
