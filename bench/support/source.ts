import type { Chunk } from '#features/sources/chunking/chunk-document.ts'
import type { SearchDatabase } from '#storage/search-engine.ts'

/** Makes the source `source`, for chunks that are written without the service. */
export async function makeSource({ db }: SearchDatabase): Promise<void> {
  const time = '2026-01-01T00:00:00.000Z'
  const row = { id: 'source', type: 'file', name: 'collection', status: 'ready', progress: 1, config: '{}' }
  await db
    .insertInto('sources')
    .values({ ...row, error: null, chunks: null, file_path: null, created_at: time, updated_at: time })
    .execute()
}

export function chunkOf(content: string): Chunk {
  return { content, page: null, section: null, start: 0, end: content.length }
}
