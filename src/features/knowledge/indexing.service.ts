import type { Kysely } from 'kysely'
import { embeddingName } from '#models/embeddings/embedding-name.ts'
import type { EmbeddingModel, TextEmbeddingModel } from '#models/embeddings/embeddings.ts'
import { AppError } from '#platform/errors.ts'
import { randomIds } from '#platform/ids.ts'
import type { WorkerPool } from '#platform/workers/worker-pool.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { AgentTables } from '#storage/tables.ts'
import {
  beginAttempt,
  continueDraft,
  countDraft,
  hideSource,
  nextUnindexed,
  requireAttempt,
} from './indexing/generations.ts'
import type { FinishTask, IndexTask, SourceTask } from './indexing/index.worker.ts'
import { providerSpace } from './indexing/provider-space.ts'

/** One run that writes the chunks of a source: when the next one begins, the writes of this one are refused. */
export type SourceRun = Omit<SourceTask, 'document'>

export interface DraftTask extends SourceTask {
  /** Names the draft that the chunks become. */
  draft: string
  /** Whether the chunks get built-in vectors: those of a small document get them at once. */
  isBuiltin: boolean
}

/** New chunks of a document. */
export interface Replacement {
  run: SourceRun
  /** The page of a website; absent for a source that is a single document. */
  document?: string
  /** The agent's database. */
  db: Kysely<AgentTables>
  model: EmbeddingModel
  /** Names the content that the chunks are made of: a draft of the same content is continued. */
  content: string
  /** Has a thread store the chunks by `storeDraft`. Returns why there are none, as a sentence for people. */
  draft(task: DraftTask): Promise<string | undefined>
  signal: AbortSignal
  /** Called when a part of the work is stored that no later run does again. */
  progressed?(): Promise<void>
  /** The share of the work that is done, 0 to 1. */
  onProgress?(share: number): Promise<void>
}

/** Chunks that get built-in vectors in one task of a worker. */
export const chunksPerTask = 512
/**
 * Chunks that a provider embeds before they are written: a failed attempt loses at most these, and no more are held in
 * memory.
 */
const chunksPerEmbedding = 192
/** The share of storing the chunks; the rest is embedding and indexing them. */
const progressStored = 0.2
/** The chunks of the largest files take minutes to remove, in short transactions. */
const removalTimeoutMs = 15 * 60_000

const indexWorker = new URL('./indexing/index.worker.ts', import.meta.url)

export function newRun(agent: Pick<AgentHandle, 'path'>, sourceId: string): SourceRun {
  return { databasePath: agent.path, sourceId, attempt: randomIds.record() }
}

/** Replaces and removes the chunks of agents' sources, in worker threads. */
export function createIndexing(workers: WorkerPool) {
  function write<Result>(name: string, argument: SourceTask | IndexTask | FinishTask, signal: AbortSignal) {
    const task = { file: indexWorker, name, argument, timeoutMs: removalTimeoutMs }
    return workers.run<Result>({ ...task, signal })
  }

  /** Takes a few hundred milliseconds, after which others get the thread. Returns the number of chunks. */
  async function indexNext(source: SourceTask, { db, model, signal }: Replacement): Promise<number> {
    const embedded = model.provider === 'builtin' ? undefined : await embedNext(db, source, model, signal)
    const limit = embedded?.vectors.length ?? chunksPerTask
    return await write<number>('index', { ...source, limit, embedded } satisfies IndexTask, signal)
  }

  return {
    /** Begins a run that replaces the documents of a source one by one: ends all others. */
    async begin(agent: Pick<AgentHandle, 'path' | 'db'>, sourceId: string): Promise<SourceRun> {
      const run = newRun(agent, sourceId)
      await beginAttempt(agent.db, run)
      return run
    },

    /** To be called first in a transaction of this run: until it ends, no other run can begin. */
    requireRun: (transaction: Kysely<AgentTables>, run: SourceRun) => requireAttempt(transaction, run),

    /**
     * Stores, embeds and indexes new chunks, part by part, and then shows them instead of the former ones. Continues where
     * an interrupted run has stopped. Returns the number of chunks, or why there are none. Must not run concurrently for
     * one source.
     */
    async replace(replacement: Replacement): Promise<number | string> {
      const { run, document, db, model, content, draft, signal } = replacement
      const { progressed = async () => {}, onProgress = async () => {} } = replacement
      const source: SourceTask = { ...run, ...(document !== undefined && { document }) }
      const embedding = embeddingName(model)
      const name = `${content} ${embedding}`
      if (!(await continueDraft(db, source, name))) {
        const refused = await draft({ ...source, draft: name, isBuiltin: model.provider === 'builtin' })
        if (refused !== undefined) return refused
        await progressed()
      }
      const { stored, indexed } = await countDraft(db, source)
      for (let done = indexed; ; ) {
        const share = stored === 0 ? 1 : done / stored
        await onProgress(progressStored + share * (1 - progressStored))
        if (done >= stored) break
        const count = await indexNext(source, replacement)
        if (count === 0) throw new AppError('INTERNAL_ERROR', 'Chunks of this source have vanished.')
        done += count
        await progressed()
      }
      return await write<number>('finish', { ...source, embedding } satisfies FinishTask, signal)
    },

    /** Hides all chunks of a source at once, and ends its runs; `remove` is to follow. */
    hide: (transaction: Kysely<AgentTables>, sourceId: string) => hideSource(transaction, sourceId),

    /**
     * Removes all chunks of the given document, or else of the source. To be called before its row, which they refer to, is
     * deleted.
     */
    remove: (source: SourceTask, signal: AbortSignal) => write<void>('remove', source, signal),
  }
}

export type IndexingService = ReturnType<typeof createIndexing>

async function embedNext(
  db: Kysely<AgentTables>,
  source: SourceTask,
  model: TextEmbeddingModel,
  signal: AbortSignal,
) {
  const chunks = await nextUnindexed(db, source, chunksPerEmbedding)
  const texts = chunks.map(({ content }) => content)
  const vectors = await model.embed(texts, { signal, purpose: 'document' })
  const [first] = vectors
  return first && { space: providerSpace(model, first), vectors }
}
