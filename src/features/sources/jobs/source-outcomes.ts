import type { SourceEvents } from '#features/knowledge/knowledge.events.ts'
import { type Clock, timestamp } from '#platform/clock.ts'
import type { Transact } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { clearQueue } from '../crawl/crawl.repository.ts'
import { type SourceChanges, updateSource } from '../sources.repository.ts'
import type { CrawlConfig, Source } from '../sources.schema.ts'

/** Records the end of processing together with its event. */
export function createOutcomes({ transact, clock }: { transact: Transact<SourceEvents>; clock: Clock }) {
  return {
    async finish(
      { agentId, db }: AgentHandle,
      { id, name }: Source,
      result: { chunks: number } & Pick<SourceChanges, 'config' | 'last_copy'>,
    ): Promise<void> {
      await transact({ agentId, db }, async (transaction, outbox) => {
        const outcome = { status: 'ready' as const, error: null, progress: 1, updated_at: timestamp(clock) }
        if (!(await updateSource(transaction, id, { ...outcome, ...result }))) return
        await clearQueue(transaction, id)
        await outbox.emit('source.ready', { agent_id: agentId, source_id: id, name, chunks: result.chunks })
      })
    },

    /** Records a failure; earlier content of the source stays searchable. */
    async fail(
      { agentId, db }: AgentHandle,
      { id, name }: Source,
      error: string,
      result: { config?: CrawlConfig } = {},
    ): Promise<void> {
      await transact({ agentId, db }, async (transaction, outbox) => {
        const outcome = { status: 'error' as const, error, updated_at: timestamp(clock) }
        if (!(await updateSource(transaction, id, { ...outcome, ...result }))) return
        await clearQueue(transaction, id)
        await outbox.emit('source.error', { agent_id: agentId, source_id: id, name, error })
      })
    },
  }
}
