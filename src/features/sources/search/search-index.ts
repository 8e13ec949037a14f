import { createFairSlots } from '#platform/workers/fair-slots.ts'
import { createGathering } from '#platform/workers/gathering.ts'
import type { WorkerPool } from '#platform/workers/worker-pool.ts'
import type { SearchResult } from '../sources.schema.ts'
import type { FinishTask, IndexTask, SourceTask } from './index.worker.ts'
import type { Embedded } from './index-writer.ts'
import type { ChunkQuery } from './rankings.ts'
import type { SearchTask } from './search.worker.ts'
import type { Search, SearchAnswer } from './search-chunks.ts'

/** The chunks of agents' sources, indexed and searched in worker threads. */
export interface SearchIndex {
  /** The chunks that fit a query, best first. */
  search(databasePath: string, query: ChunkQuery, signal?: AbortSignal): Promise<SearchResult[]>
  /** The same of all sources, if their shown chunks have the embeddings that are believed, and else which they have. */
  searchAsBelieved(
    databasePath: string,
    query: ChunkQuery,
    believed: readonly string[],
    signal?: AbortSignal,
  ): Promise<SearchAnswer>
  /**
   * Puts the next chunks of the source's draft into the indexes, and tells how many: a few hundred milliseconds' work,
   * after which others get the thread. `embedded` holds the vectors of exactly the next chunks; without it they get
   * built-in ones. Not to run twice at a time for one source.
   */
  indexNext(source: SourceTask, embedded?: Embedded, signal?: AbortSignal): Promise<number>
  /** Shows the draft in the place of the chunks that were found so far, and tells the number of its chunks. */
  finish(source: FinishTask, signal?: AbortSignal): Promise<number>
  /** Removes all chunks of the document that is named, or else of the source. To be called before its row is deleted, which they refer to. */
  remove(source: SourceTask, signal?: AbortSignal): Promise<void>
}

/** Chunks that get built-in vectors in one task of a worker. */
export const chunksPerTask = 512

const searchWorker = new URL('./search.worker.ts', import.meta.url)
const indexWorker = new URL('./index.worker.ts', import.meta.url)

/** Runs of searches that are going on or are the next one, of all agents and of one: as many as keep all threads at work. */
const runsAtOnce = 3
const runsPerAgent = 2
/** More of them would save little, and have others wait longer. */
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
    // Agents take turns, so that nobody waits for all the searches of another.
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
      if ('shown' in answer) throw new Error('a search that believes nothing was told of its belief')
      return answer.results
    },
    searchAsBelieved: (databasePath, query, believed, signal = never) =>
      ask(databasePath, { query, believed }, signal),
    indexNext(source, embedded, signal) {
      const limit = embedded?.vectors.length ?? chunksPerTask
      return write('index', { ...source, limit, embedded }, signal)
    },
    finish: (source, signal) => write('finish', source, signal),
    remove: (source, signal) => write('remove', source, signal),
  }
}
