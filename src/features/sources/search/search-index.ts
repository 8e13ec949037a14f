import { createFairSlots } from '#platform/workers/fair-slots.ts'
import { createGathering } from '#platform/workers/gathering.ts'
import type { WorkerPool } from '#platform/workers/worker-pool.ts'
import type { FinishTask, IndexTask, SourceTask } from '../indexing/index.worker.ts'
import type { Embedded } from '../indexing/index-writer.ts'
import type { SearchResult } from '../sources.schema.ts'
import type { ChunkQuery } from './rankings.ts'
import type { SearchTask } from './search.worker.ts'
import type { Search, SearchAnswer } from './search-chunks.ts'

/** The chunks of agents' sources, indexed and searched in worker threads. */
export interface SearchIndex {
  /** The chunks that match a query, best first. */
  search(databasePath: string, query: ChunkQuery, signal?: AbortSignal): Promise<SearchResult[]>
  /** The same over all sources, if their shown chunks have the assumed embeddings; otherwise the embeddings that they have. */
  searchExpecting(
    databasePath: string,
    query: ChunkQuery,
    expected: readonly string[],
    signal?: AbortSignal,
  ): Promise<SearchAnswer>
  /**
   * Indexes the next chunks of the source's draft, and returns their number: this takes a few hundred milliseconds,
   * after which others get the thread. `embedded` contains the vectors of exactly the next chunks; without it they get
   * built-in ones. Must not run concurrently for one source.
   */
  indexNext(source: SourceTask, embedded?: Embedded, signal?: AbortSignal): Promise<number>
  /** Shows the draft instead of the chunks that were found so far, and returns the number of its chunks. */
  finish(source: FinishTask, signal?: AbortSignal): Promise<number>
  /**
   * Removes all chunks of the given document, or else of the source. To be called before its row, which they refer to,
   * is deleted.
   */
  remove(source: SourceTask, signal?: AbortSignal): Promise<void>
}

/** Chunks that get built-in vectors in one task of a worker. */
export const chunksPerTask = 512

const searchWorker = new URL('./search.worker.ts', import.meta.url)
const indexWorker = new URL('../indexing/index.worker.ts', import.meta.url)

/** Maximum number of batches of searches that run or come next, in total and per agent: as many as keep all threads busy. */
const runsAtOnce = 3
const runsPerAgent = 2
/** Larger batches would save little, and make others wait longer. */
const searchesPerRun = 4
const never = new AbortController().signal

/** The chunks of the largest files take minutes to remove, in short transactions. */
const removalTimeoutMs = 15 * 60_000

export function createSearchIndex({
  readers,
  writers,
}: {
  readers: WorkerPool
  writers: WorkerPool
}): SearchIndex {
  const ask = createGathering<Search, SearchAnswer>({
    // Agents take turns, so that none waits for all the searches of another.
    slots: createFairSlots(runsAtOnce, runsPerAgent),
    most: searchesPerRun,
    run(databasePath, searches, signal) {
      const argument: SearchTask = { databasePath, searches }
      return readers.run({ file: searchWorker, name: 'search', argument, signal })
    },
  })

  function write<Result>(
    name: string,
    argument: SourceTask | IndexTask | FinishTask,
    signal: AbortSignal | undefined,
  ) {
    const task = { file: indexWorker, name, argument, timeoutMs: removalTimeoutMs }
    return writers.run<Result>({ ...task, ...(signal && { signal }) })
  }

  return {
    async search(databasePath, query, signal = never) {
      const answer = await ask(databasePath, { query }, signal)
      if ('current' in answer)
        throw new Error('a search that expects nothing was answered with what is current')
      return answer.results
    },
    searchExpecting: (databasePath, query, expected, signal = never) =>
      ask(databasePath, { query, expected }, signal),
    indexNext(source, embedded, signal) {
      const limit = embedded?.vectors.length ?? chunksPerTask
      return write('index', { ...source, limit, embedded }, signal)
    },
    finish: (source, signal) => write('finish', source, signal),
    remove: (source, signal) => write('remove', source, signal),
  }
}
