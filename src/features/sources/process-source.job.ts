import type { EmbeddingModel } from '#models/embeddings.ts'
import type { Clock } from '#platform/clock.ts'
import { timestamp } from '#platform/clock.ts'
import { AppError } from '#platform/errors.ts'
import { randomIds } from '#platform/ids.ts'
import type { JobContext, JobHandler, Transact } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { Ingest } from './ingest.ts'
import { documentFormatOf } from './parsing/document-format.ts'
import { continueDraft } from './search/generations.ts'
import { indexDraft } from './search/index-draft.ts'
import { embeddingName } from './search/provider-space.ts'
import type { SearchIndex } from './search/search-index.ts'
import { sourceIdOf } from './source-jobs.ts'
import type { SourceEvents } from './sources.events.ts'
import { findSource, updateSource } from './sources.repository.ts'
import type { Source } from './sources.schema.ts'

/** Share of the progress that reading the file is; the rest is embedding and indexing its chunks. */
const progressRead = 0.2

interface Needs {
  ingest: Ingest
  embeddingOf(agentId: string): Promise<EmbeddingModel>
  index: Pick<SearchIndex, 'indexNext' | 'finish'>
  transact: Transact<SourceEvents>
  clock: Clock
}

/**
 * Reads, cuts, embeds and indexes an uploaded file, in worker threads that hand the chunks on through the database. An
 * interrupted run is continued by the next one.
 */
export function createProcessSourceJob(needs: Needs): JobHandler<AgentHandle> {
  const { finish, fail } = createOutcomes(needs)

  async function process(context: JobContext<AgentHandle>, source: Source): Promise<void> {
    const { agent, signal, jobId } = context
    const { db } = agent
    const report = async (progress: number) => void (await updateSource(db, source.id, { progress }))
    const format = documentFormatOf(source.config.file_name)
    if (format === undefined || source.file_path === undefined)
      return fail(agent, source, 'The file of this source is missing.')
    const model = await needs.embeddingOf(agent.agentId)
    const attempt = randomIds.record()
    const place = { databasePath: agent.path, sourceId: source.id, attempt }
    // Of another job or embedding there may be a draft, too, but not one to go on with.
    const draft = `${jobId} ${embeddingName(model)}`
    if (!(await continueDraft(db, place, draft))) {
      const location = agent.files.locate(source.file_path)
      const { chunk_size, overlap, method } = source.config
      const chunking = { chunk_size, overlap, method }
      const isBuiltin = model.provider === 'builtin'
      const read = await needs.ingest({ ...place, location, format, chunking, draft, isBuiltin }, signal)
      if (read.kind === 'unreadable') return fail(agent, source, read.reason)
      if (read.kind === 'unavailable') throw new AppError('INTERNAL_ERROR', read.reason)
      await report(progressRead)
    }
    await indexDraft({
      source: place,
      db,
      index: needs.index,
      model,
      signal,
      onProgress: share => report(progressRead + share * (1 - progressRead)),
    })
    await finish(agent, source, await needs.index.finish(place, signal))
  }

  return {
    async run(context) {
      const source = await sourceOf(context)
      if (source !== undefined)
        await process(context, source).catch(error => {
          throw presentable(error, context.signal)
        })
    },
    async onFailed(context, error) {
      const source = await sourceOf(context)
      context.log.error({ sourceId: source?.id, error }, 'a source could not be processed')
      if (source !== undefined)
        await fail(context.agent, source, `This file could not be processed: ${error}`)
    },
  }
}

/** The error's message will stand on the source: what is no message for people is told by the log alone. */
function presentable(error: unknown, signal: AbortSignal): unknown {
  if (error instanceof AppError || signal.aborted) return error
  return new AppError(
    'INTERNAL_ERROR',
    'something unexpected happened, which the log of the server tells of.',
    { cause: error },
  )
}

/** How processing ends: written down together with the news of it. */
function createOutcomes({ transact, clock }: Pick<Needs, 'transact' | 'clock'>) {
  return {
    async finish({ agentId, db }: AgentHandle, { id, name }: Source, chunks: number): Promise<void> {
      await transact({ agentId, db }, async (transaction, outbox) => {
        const changes = {
          status: 'ready' as const,
          error: null,
          progress: 1,
          chunks,
          updated_at: timestamp(clock),
        }
        if (!(await updateSource(transaction, id, changes))) return
        await outbox.tell('source.ready', { agentId, sourceId: id, name, chunks })
      })
    },

    /** What was found in the file before stays searchable. */
    async fail({ agentId, db }: AgentHandle, { id, name }: Source, error: string): Promise<void> {
      await transact({ agentId, db }, async (transaction, outbox) => {
        const changes = { status: 'error' as const, error, updated_at: timestamp(clock) }
        if (!(await updateSource(transaction, id, changes))) return
        await outbox.tell('source.error', { agentId, sourceId: id, name, error })
      })
    },
  }
}

/** The job's source; undefined once it was deleted. */
function sourceOf({ agent, payload }: JobContext<AgentHandle>): Promise<Source | undefined> {
  return findSource(agent.db, sourceIdOf(payload))
}
