import type { WorkerPool } from '#platform/workers/worker-pool.ts'
import type { VectorSpace } from '#storage/sqlite/vectors.ts'
import type { Chunk } from '../chunking/chunk-document.ts'
import type { SearchResult } from '../sources.schema.ts'
import type { AddTask, SourceTask } from './index.worker.ts'
import type { SearchTask } from './search.worker.ts'

export interface Search {
  databasePath: string
  query: string
  limit: number
  /** Search this source only. */
  sourceId?: string | undefined
  /** Leave out what scores less, 0 to 1. */
  minScore?: number | undefined
  /** Names the embedding in use: chunks that were embedded by another one are found by their words only. */
  embedding: string
  /** The query as a provider embeds it; without it the built-in embedding is used. */
  queryVector?: Float32Array | undefined
}

export interface Replacement extends SourceTask {
  chunks: readonly Chunk[]
  embedding: string
  /** A provider's vectors, one for each chunk; without them the built-in embedding is used. */
  vectors?: readonly Float32Array[] | undefined
}

/** The chunks of agents' sources, written and searched in worker threads. */
export interface SearchIndex {
  /** The chunks that fit a query, best first. */
  search(search: Search, signal?: AbortSignal): Promise<SearchResult[]>
  /**
   * Puts these chunks in the place of the source's, which are found until the last of these is written, and tells their
   * number. `onProgress` is told the share that is written. Not to run twice at a time for one source.
   */
  replace(
    replacement: Replacement,
    signal?: AbortSignal,
    onProgress?: (share: number) => void,
  ): Promise<number>
  /** Removes all chunks of a source. To be called before its row is deleted, which they refer to. */
  remove(task: SourceTask, signal?: AbortSignal): Promise<void>
}

const searchWorker = new URL('./search.worker.ts', import.meta.url)
const indexWorker = new URL('./index.worker.ts', import.meta.url)

/** Chunks written by one task of a worker: a few hundred milliseconds, after which others get the thread. */
const chunksPerTask = 512

/** The chunks of the largest files take minutes to remove, in short transactions. */
const removalTimeoutMs = 15 * 60_000

export function createSearchIndex({
  readers,
  writers,
}: {
  readers: WorkerPool
  writers: WorkerPool
}): SearchIndex {
  function write<Result>(name: string, argument: SourceTask | AddTask, signal: AbortSignal | undefined) {
    const task = { file: indexWorker, name, argument, timeoutMs: removalTimeoutMs }
    return writers.run<Result>({ ...task, ...(signal && { signal }) })
  }

  return {
    search({ databasePath, query: text, limit, sourceId, minScore, embedding, queryVector }, signal) {
      const embedded = queryVector && { space: spaceOf(embedding, queryVector), vector: queryVector }
      const argument: SearchTask = { databasePath, query: { text, limit, sourceId, minScore, embedded } }
      return readers.run({ file: searchWorker, name: 'search', argument, ...(signal && { signal }) })
    },

    async replace({ databasePath, sourceId, chunks, embedding, vectors }, signal, onProgress) {
      const source = { databasePath, sourceId }
      await write('start', source, signal)
      for (let start = 0; start < chunks.length; start += chunksPerTask) {
        const end = Math.min(start + chunksPerTask, chunks.length)
        const slice = vectors?.slice(start, end)
        const [first] = slice ?? []
        const embedded = slice && first && { space: spaceOf(embedding, first), vectors: slice }
        await write('add', { ...source, chunks: chunks.slice(start, end), embedded }, signal)
        onProgress?.(end / chunks.length)
      }
      return await write<number>('finish', source, signal)
    },

    remove: (source, signal) => write('remove', source, signal),
  }
}

function spaceOf(embedding: string, { length: dimensions }: Float32Array): VectorSpace {
  return { id: embedding, dimensions, form: 'floats' }
}
