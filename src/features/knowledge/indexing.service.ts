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

/** One run that writes the chunks of a source: the start of the next one blocks its writes. */
export type SourceRun = Omit<SourceTask, 'document'>

export interface DraftTask extends SourceTask {
  /** The name of the draft for the chunks. */
  draft: string
  /** True if the chunks get built-in vectors: those of a small document get them at once. */
  isBuiltin: boolean
}

/** New chunks of a document. */
export interface Replacement {
  run: SourceRun
  /** The page of a website; absent for a source with a single document. */
  document?: string
  db: Kysely<AgentTables>
  model: EmbeddingModel
  /** The id of the chunks' content: a draft of the same content is continued. */
  content: string
  /** Stores the chunks by `storeDraft`, in a thread. Returns why there are none, as a sentence for people. */
  draft(task: DraftTask): Promise<string | undefined>
  signal: AbortSignal
  /** Called after a part of the work was stored, which no later run repeats. */
  progressed?(): Promise<void>
  /** Reports the completed share of the work, 0 to 1. */
  onProgress?(share: number): Promise<void>
}

/** Number of chunks that get built-in vectors in one task of a worker. */
export const chunksPerTask = 512
/**
 * Max chunks that a provider embeds before they are written: a failed attempt loses only these, and only
 * these are in memory.
 */
const chunksPerEmbedding = 192
/** The share of storing the chunks in the progress; the rest is embedding and indexing. */
const progressStored = 0.2
/** Enough for the chunks of the largest files, removed in short transactions. */
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

  /** Indexes chunks for a few hundred milliseconds, then others get the thread. Returns their number. */
  async function indexNext(source: SourceTask, { db, model, signal }: Replacement): Promise<number> {
    const embedded = model.provider === 'builtin' ? undefined : await embedNext(db, source, model, signal)
    const limit = embedded?.vectors.length ?? chunksPerTask
    return await write<number>('index', { ...source, limit, embedded } satisfies IndexTask, signal)
  }

  return {
    /** Begins a run that replaces the documents of a source one by one, and ends all others. */
    async begin(agent: Pick<AgentHandle, 'path' | 'db'>, sourceId: string): Promise<SourceRun> {
      const run = newRun(agent, sourceId)
      await beginAttempt(agent.db, run)
      return run
    },

    /** Must be called first in a transaction of this run: until its end, no other run can begin. */
    requireRun: (transaction: Kysely<AgentTables>, run: SourceRun) => requireAttempt(transaction, run),

    /**
     * Stores, embeds and indexes new chunks, part by part, then shows them instead of the former ones.
     * Continues an interrupted run. Returns the number of chunks, or why there are none. Must not run
     * concurrently for one source.
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

    /** Hides all chunks of a source at once, and ends its runs; `remove` must follow. */
    hide: (transaction: Kysely<AgentTables>, sourceId: string) => hideSource(transaction, sourceId),

    /**
     * Removes all chunks of the given document, or else of the source. Must be called before the deletion of
     * its row, to which they refer.
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
