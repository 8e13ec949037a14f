import { createFairSlots } from '#platform/workers/fair-slots.ts'
import type { WorkerPool } from '#platform/workers/worker-pool.ts'
import type { SearchResult } from '../knowledge.schema.ts'
import type { ChunkQuery } from './rankings.ts'
import type { SearchTask } from './search.worker.ts'

/** Searches the chunks of agents' sources in worker threads. */
export interface SearchIndex {
  /** The chunks that match a query, best first. */
  search(databasePath: string, query: ChunkQuery, signal?: AbortSignal): Promise<SearchResult[]>
}

const searchWorker = new URL('./search.worker.ts', import.meta.url)

/** Maximum number of searches that run or come next, in total and per agent: as many as keep all threads busy. */
const concurrency = 3
const perAgent = 2
const never = new AbortController().signal

export function createSearchIndex(readers: WorkerPool): SearchIndex {
  // Agents take turns, so that none waits for all the searches of another.
  const slots = createFairSlots(concurrency, perAgent)
  return {
    async search(databasePath, query, signal = never) {
      const release = await slots.take(databasePath, signal)
      try {
        const argument: SearchTask = { databasePath, query }
        return await readers.run({ file: searchWorker, name: 'search', argument, signal })
      } finally {
        release()
      }
    },
  }
}
