import { onTestFinished } from 'vitest'
import type { Chunk } from '#features/sources/chunking/chunk-document.ts'
import { withAgentDatabase } from '#features/sources/search/agent-database.ts'
import type { Embedded, IndexWriter } from '#features/sources/search/index-writer.ts'
import { createIndexWriter } from '#features/sources/search/index-writer.ts'
import type { ChunkQuery } from '#features/sources/search/rankings.ts'
import { searchChunks } from '#features/sources/search/search-chunks.ts'
import type { SearchDatabase } from '#storage/search-engine.ts'
import { openEmbeddedStorage } from './embedded-storage.ts'

/** The database file of a new agent, with ways to fill and search it in the test's own thread. */
export async function setSearchStage() {
  const storage = await openEmbeddedStorage()
  await storage.addAgent('a')
  const agent = await storage.agentDatabases.acquire('a')
  onTestFinished(() => agent.release())
  const { path, db } = agent
  let chunksMade = 0
  const ids = { record: () => `chunk-${++chunksMade}`, toolCall: () => '' }

  async function addSource(id: string): Promise<void> {
    const time = '2026-01-01T00:00:00.000Z'
    const row = { id, type: 'file', name: `${id}.txt`, status: 'ready', progress: 1, config: '{}' }
    await db
      .insertInto('sources')
      .values({ ...row, error: null, chunks: null, file_path: null, created_at: time, updated_at: time })
      .execute()
  }

  function write<Result>(
    work: (writer: IndexWriter, db: SearchDatabase) => Promise<Result>,
  ): Promise<Result> {
    return withAgentDatabase(path, { readOnly: false }, own => work(createIndexWriter({ db: own, ids }), own))
  }

  return {
    path,
    db,
    addSource,
    write,

    /** Puts these texts in the place of the source's chunks. */
    replace(sourceId: string, texts: readonly string[], embedded?: Embedded): Promise<number> {
      return write(async writer => {
        await writer.start(sourceId)
        await writer.add(sourceId, texts.map(chunkOf), embedded)
        return writer.finish(sourceId)
      })
    },

    search(text: string, options: Partial<ChunkQuery> = {}) {
      return withAgentDatabase(path, { readOnly: true }, own =>
        searchChunks(own, { text, limit: 10, ...options }),
      )
    },
  }
}

/** A chunk that is the whole of its text. */
export function chunkOf(content: string): Chunk {
  return { content, page: null, section: null, start: 0, end: content.length }
}
