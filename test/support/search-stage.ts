import { onTestFinished } from 'vitest'
import { withAgentDatabase } from '#features/knowledge/indexing/agent-database.ts'
import {
  createIndexWriter,
  type Embedded,
  type IndexWriter,
} from '#features/knowledge/indexing/index-writer.ts'
import type { ChunkQuery } from '#features/knowledge/search/rankings.ts'
import { searchChunks } from '#features/knowledge/search/search-chunks.ts'
import { randomIds } from '#platform/ids.ts'
import { openSearchDatabase } from '#storage/search/search-database.ts'
import type { SearchDatabase } from '#storage/search/search-engine.ts'
import { addSource, chunkOf } from './chunk-rows.ts'
import type { OnEnd } from './databases-on.ts'
import { openStorage } from './storage.ts'

/** The database of a new agent, with ways to fill and search it in the test's own thread; for one test, or until `onEnd`. */
export async function setSearchStage(onEnd?: OnEnd) {
  const { path, db } = await openAgent(onEnd)
  const attempt = 'first attempt'

  function write<Result>(
    work: (writer: IndexWriter, db: SearchDatabase) => Promise<Result>,
    as = attempt,
  ): Promise<Result> {
    return withAgentDatabase(path, { readOnly: false }, own =>
      work(createIndexWriter({ db: own, ids: randomIds, attempt: as }), own),
    )
  }

  return {
    path,
    db,
    attempt,
    addSource: (id: string) => addSource(db, id),
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

/** A new agent with chunks that are in no index yet: their sequences are 1 to `count`. */
export async function setEngineStage(count = 50): Promise<SearchDatabase> {
  const { path, db } = await openAgent()
  await addSource(db, 'manual')
  const place = {
    source_id: 'manual',
    content: '',
    page: null,
    section: null,
    start_offset: 0,
    end_offset: 0,
  }
  const chunks = Array.from({ length: count }, (_, index) => ({ ...place, id: `chunk-${index + 1}` }))
  await db.insertInto('chunks').values(chunks).execute()
  const database = await openSearchDatabase(path, { readOnly: false })
  onTestFinished(() => database.db.destroy())
  return database
}

async function openAgent(onEnd: OnEnd = onTestFinished) {
  const storage = await openStorage(onEnd)
  await storage.addAgent('a')
  const agent = await storage.agentDatabases.acquire('a')
  onEnd(() => agent.release())
  return agent
}
