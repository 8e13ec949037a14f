import type { IndexingService } from '#features/knowledge/indexing.service.ts'
import type { SourceEvents } from '#features/knowledge/knowledge.events.ts'
import { timestamp } from '#platform/clock.ts'
import { invalid, notFound } from '#platform/errors.ts'
import type { ChangeContext } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { addSourceJob, removeJobName } from './jobs/source-jobs.ts'
import { findLiveSource, findSource, listSources, updateSource } from './sources.repository.ts'
import type { Source, SourceListQuery } from './sources.schema.ts'
import { createUploads, processAnew } from './uploads.ts'

interface Dependencies extends ChangeContext<SourceEvents> {
  /** Throws the reason if the agent's documents cannot be embedded, such as MODEL_NOT_CONFIGURED. */
  requireEmbedding(agentId: string): Promise<unknown>
  indexing: Pick<IndexingService, 'hide'>
}

export function createSourcesService(dependencies: Dependencies) {
  const { transact, requireEmbedding, indexing, clock } = dependencies

  async function find(agent: AgentHandle, id: string): Promise<Source> {
    const source = await findLiveSource(agent.db, id)
    if (source === undefined) throw notFound('Source')
    return source
  }

  return {
    find,

    ...createUploads(dependencies),

    list: (agent: AgentHandle, query: SourceListQuery) => listSources(agent.db, query),

    /** Starts another read of the stored file, or another fetch; earlier content stays searchable. */
    async refresh(agent: AgentHandle, id: string): Promise<Source> {
      const { type } = await find(agent, id)
      if (type === 'crawl') throw invalid('sourceId', 'is a website; use reindex to crawl it again')
      await requireEmbedding(agent.agentId)
      return transact(agent, async (transaction, outbox) => {
        const source = await findSource(transaction, id)
        if (source === undefined) throw notFound('Source')
        return await processAnew({ transaction, outbox, clock }, source)
      })
    },

    /** Hides the source and cancels its processing; a job removes its chunks and its file. */
    async remove(agent: AgentHandle, id: string): Promise<void> {
      await transact(agent, async (transaction, outbox) => {
        const now = timestamp(clock)
        if (!(await updateSource(transaction, id, { removed_at: now, updated_at: now })))
          throw notFound('Source')
        await indexing.hide(transaction, id)
        await addSourceJob(outbox, removeJobName, id)
      })
    },
  }
}

export type SourcesService = ReturnType<typeof createSourcesService>
