import { documentFormatOf } from '#documents/parsing/document-format.ts'
import { type IndexingService, newRun } from '#features/knowledge/indexing.service.ts'
import type { SourceEvents } from '#features/knowledge/knowledge.events.ts'
import type { KnowledgeFeature } from '#features/knowledge/knowledge.feature.ts'
import type { EmbeddingModel } from '#models/embeddings/embeddings.ts'
import type { Clock } from '#platform/clock.ts'
import type { JobContext, JobHandler, Transact } from '#platform/jobs/jobs.ts'
import { presentable } from '#platform/jobs/presentable.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { type Ingest, refusalOf } from '../ingestion/ingest.ts'
import { updateSource } from '../sources.repository.ts'
import type { Source } from '../sources.schema.ts'
import { sourceOfJob, sourceToWorkOn } from './source-jobs.ts'
import { createOutcomes } from './source-outcomes.ts'

interface Dependencies {
  ingest: Ingest
  embeddingOf(agentId: string): Promise<EmbeddingModel>
  indexing: Pick<IndexingService, 'replace'>
  changes: Pick<KnowledgeFeature['changes'], 'follow'>
  transact: Transact<SourceEvents>
  clock: Clock
}

/**
 * Reads, chunks, embeds and indexes an uploaded file, in worker threads that pass chunks through the
 * database. The next run continues an interrupted one.
 */
export function createProcessSourceJob(dependencies: Dependencies): JobHandler<AgentHandle> {
  const { finish, fail } = createOutcomes(dependencies)

  async function process(context: JobContext<AgentHandle>, source: Source): Promise<void> {
    const { agent, signal, jobId, progressed } = context
    const { db } = agent
    const { file_path, config } = source
    const format = 'file_name' in config ? documentFormatOf(config.file_name) : undefined
    if (format === undefined || file_path === undefined || !('file_name' in config))
      return fail(agent, source, 'The file of this source is missing.')
    const model = await dependencies.embeddingOf(agent.agentId)
    const { chunk_size, overlap, method } = config
    const file = {
      location: agent.files.locate(file_path),
      format,
      chunking: { chunk_size, overlap, method },
    }
    const chunks = await dependencies.indexing.replace({
      run: newRun(agent, source.id),
      db,
      model,
      content: jobId,
      draft: async task => refusalOf(await dependencies.ingest({ ...task, ...file }, signal)),
      signal,
      progressed,
      onProgress: async progress => void (await updateSource(db, source.id, { progress })),
    })
    if (typeof chunks === 'string') return fail(agent, source, chunks)
    await finish(agent, source, { chunks })
    // The embedding might have changed during this run.
    await dependencies.changes.follow(agent)
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
