import { embeddingName } from '#models/embeddings/embedding-name.ts'
import type { EmbeddingModel } from '#models/embeddings/embeddings.ts'
import type { WorkerPool } from '#platform/workers/worker-pool.ts'
import type { SourceTask } from './index.worker.ts'
import { providerSpace } from './provider-space.ts'
import type { ChunkText } from './vector-writer.ts'
import type { PartTask, RemovalTask, WriteTask } from './vectors.worker.ts'

/** Adds vectors of another embedding to stored chunks, in worker threads. */
export interface NewVectors {
  /**
   * Embeds the next shown chunks of the document without a vector of this model, after the sequence `after`.
   * Returns the last of them, or undefined if none was left.
   */
  embedNext(
    document: SourceTask,
    after: number,
    model: EmbeddingModel,
    signal: AbortSignal,
  ): Promise<number | undefined>
  /** Removes all vectors of the source's shown chunks except those of the given embedding. */
  removeOthers(source: SourceTask, embedding: string, signal: AbortSignal): Promise<void>
}

/** Max chunks embedded before a write: a failed attempt loses only these, and only these use memory. */
const chunksPerPart = 192
const builtinChunksPerPart = 512
/** Enough for the vectors of the largest sources, removed in short transactions. */
const removalTimeoutMs = 15 * 60_000

const file = new URL('./vectors.worker.ts', import.meta.url)

export function createNewVectors(workers: WorkerPool): NewVectors {
  return {
    async embedNext(document, after, model, signal) {
      const part = { ...document, embedding: embeddingName(model), after }
      if (model.provider === 'builtin') {
        const argument: PartTask = { ...part, limit: builtinChunksPerPart }
        return await workers.run<number | undefined>({ file, name: 'embed', argument, signal })
      }
      const argument: PartTask = { ...part, limit: chunksPerPart }
      const chunks = await workers.run<ChunkText[]>({ file, name: 'next', argument, signal })
      const texts = chunks.map(({ content }) => content)
      const vectors = texts.length === 0 ? [] : await model.embed(texts, { signal, purpose: 'document' })
      const [first] = vectors
      if (first === undefined) return undefined
      const sequences = chunks.map(({ sequence }) => sequence)
      const embedded = { space: providerSpace(model, first), vectors }
      const written: WriteTask = { ...document, sequences, embedded }
      await workers.run({ file, name: 'write', argument: written, signal })
      return sequences.at(-1)
    },

    removeOthers(source, embedding, signal) {
      const argument: RemovalTask = { ...source, embedding }
      return workers.run({ file, name: 'removeOthers', argument, signal, timeoutMs: removalTimeoutMs })
    },
  }
}
