import { documentFormatOf } from '#documents/parsing/document-format.ts'
import type { EmbeddingModel } from '#models/embeddings/embeddings.ts'
import type { Clock } from '#platform/clock.ts'
import { AppError } from '#platform/errors.ts'
import { randomIds } from '#platform/ids.ts'
import type { JobContext, JobHandler, Transact } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { EmbeddingChanges } from '../embedding/embedding-changes.ts'
import { continueDraft } from '../indexing/generations.ts'
import { indexDraft } from '../indexing/index-draft.ts'
import { embeddingName } from '../indexing/provider-space.ts'
import type { Ingest } from '../ingestion/ingest.ts'
import type { SearchIndex } from '../search/search-index.ts'
import type { SourceEvents } from '../sources.events.ts'
import { updateSource } from '../sources.repository.ts'
import type { Source } from '../sources.schema.ts'
import { sourceOfJob, sourceToWorkOn } from './source-jobs.ts'
import { createOutcomes, presentable } from './source-outcomes.ts'

/** The share of reading the file in the progress; the rest is embedding and indexing its chunks. */
const progressRead = 0.2

interface Dependencies {
  ingest: Ingest
  embeddingOf(agentId: string): Promise<EmbeddingModel>
  index: Pick<SearchIndex, 'indexNext' | 'finish'>
  changes: Pick<EmbeddingChanges, 'follow'>
  transact: Transact<SourceEvents>
  clock: Clock
}

/**
 * Reads, cuts, embeds and indexes an uploaded file, in worker threads that hand the chunks on through the database. An
 * interrupted run is continued by the next one.
 */
export function createProcessSourceJob(needs: Dependencies): JobHandler<AgentHandle> {
  const { finish, fail } = createOutcomes(needs)

  async function process(context: JobContext<AgentHandle>, source: Source): Promise<void> {
    const { agent, signal, jobId } = context
    const { db } = agent
    const report = async (progress: number) => void (await updateSource(db, source.id, { progress }))
    const { file_path, config } = source
    const format = 'file_name' in config ? documentFormatOf(config.file_name) : undefined
    if (format === undefined || file_path === undefined || !('file_name' in config))
      return fail(agent, source, 'The file of this source is missing.')
    const model = await needs.embeddingOf(agent.agentId)
    const attempt = randomIds.record()
    const place = { databasePath: agent.path, sourceId: source.id, attempt }
    // A draft of another job or embedding must not be continued.
    const draft = `${jobId} ${embeddingName(model)}`
    if (!(await continueDraft(db, place, draft))) {
      const location = agent.files.locate(file_path)
      const { chunk_size, overlap, method } = config
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
    await finish(agent, source, {
      chunks: await needs.index.finish({ ...place, embedding: embeddingName(model) }, signal),
    })
    // It may have changed since this began.
    await needs.changes.follow(agent)
  }

  return {
    lane: 'documents',
    async run(context) {
      const source = await sourceToWorkOn(context)
      if (source !== undefined)
        await process(context, source).catch(error => {
          throw presentable(error, context.signal)
        })
    },
    async onFailed(context, error) {
      const source = await sourceOfJob(context)
      context.log.error({ sourceId: source?.id, error }, 'a source could not be processed')
      if (source !== undefined)
        await fail(context.agent, source, `This file could not be processed: ${error}`)
    },
  }
}
