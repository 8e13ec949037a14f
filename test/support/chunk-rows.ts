/** Sources and chunks that are written without the service. */
import type { Kysely } from 'kysely'
import type { Chunk } from '#documents/chunking/chunk-document.ts'
import type { AgentTables } from '#storage/tables.ts'

/** A source that is ready, for chunks that are yet to be written. */
export async function addSource(db: Kysely<AgentTables>, id: string): Promise<void> {
  const time = '2026-01-01T00:00:00.000Z'
  const row = { id, type: 'file', name: `${id}.txt`, status: 'ready', progress: 1, config: '{}' }
  await db
    .insertInto('sources')
    .values({ ...row, error: null, chunks: null, file_path: null, created_at: time, updated_at: time })
    .execute()
}

/** A chunk that is the whole of its text. */
export function chunkOf(content: string): Chunk {
  return { content, page: null, section: null, start: 0, end: content.length }
}
