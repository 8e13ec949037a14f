import { createBatching } from '#platform/workers/batching.ts'
import { createFairSlots } from '#platform/workers/fair-slots.ts'
import type { WorkerPool } from '#platform/workers/worker-pool.ts'
import type { SearchResult } from '../knowledge.schema.ts'
import type { ChunkQuery } from './rankings.ts'
import type { SearchTask } from './search.worker.ts'
import type { Search, SearchAnswer } from './search-chunks.ts'

/** Searches the chunks of agents' sources in worker threads. */
export interface SearchIndex {
  /** Returns the chunks that match a query, best first. */
  search(databasePath: string, query: ChunkQuery, signal?: AbortSignal): Promise<SearchResult[]>
  /** Searches all sources with the expected embeddings; otherwise returns their embeddings. */
  searchExpecting(
    databasePath: string,
    query: ChunkQuery,
    expected: readonly string[],
    signal?: AbortSignal,
  ): Promise<SearchAnswer>
}

const searchWorker = new URL('./search.worker.ts', import.meta.url)

/** Max batches of searches that run or are next, in total and per agent: enough for all threads. */
const runsAtOnce = 3
const runsPerAgent = 2
/** Larger batches would save little, and delay others. */
const searchesPerRun = 4
const never = new AbortController().signal

export function createSearchIndex(readers: WorkerPool): SearchIndex {
  const request = createBatching<Search, SearchAnswer>({
    // Agents take turns, so that none waits for all the searches of another.
    slots: createFairSlots(runsAtOnce, runsPerAgent),
    most: searchesPerRun,
    run(databasePath, searches, signal) {
      const argument: SearchTask = { databasePath, searches }
      return readers.run({ file: searchWorker, name: 'search', argument, signal })
    },
  })

  return {
    async search(databasePath, query, signal = never) {
      const answer = await request(databasePath, { query }, signal)
      if ('current' in answer)
        throw new Error('a search that expects nothing was answered with what is current')
      return answer.results
    },
    searchExpecting: (databasePath, query, expected, signal = never) =>
      request(databasePath, { query, expected }, signal),
  }
}
