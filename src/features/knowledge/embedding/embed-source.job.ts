import type { EmbeddingModel } from '#models/embeddings/embeddings.ts'
import { type Clock, timestamp } from '#platform/clock.ts'
import type { JobContext, JobHandler, Transact } from '#platform/jobs/jobs.ts'
import { presentable } from '#platform/jobs/presentable.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { NewVectors } from '../indexing/new-vectors.ts'
import type { IndexingService } from '../indexing.service.ts'
import type { SourceEvents } from '../knowledge.events.ts'
import { type ChangingSource, changeSource, findChanging } from '../source-rows.repository.ts'
import { embedAgain } from './embed-again.ts'
import { type EmbeddingChanges, sourceToEmbed } from './embedding-changes.ts'

interface Dependencies {
  embeddingOf(agentId: string): Promise<EmbeddingModel>
  indexing: Pick<IndexingService, 'begin'>
  vectors: NewVectors
  changes: Pick<EmbeddingChanges, 'beginNext' | 'follow'>
  transact: Transact<SourceEvents>
  clock: Clock
  /** Max time that the job works before others (ms). */
  turnMs?: number
}

type Context = JobContext<AgentHandle>

const usualTurnMs = 20_000
/** Max runs, enough for some minutes of a provider's failure. */
const maxAttempts = 6

/** Embeds a source again with another embedding. The next run continues an interrupted one. */
export function createEmbedSourceJob(dependencies: Dependencies): JobHandler<AgentHandle> {
  const { indexing, vectors, changes, transact, clock, embeddingOf, turnMs = usualTurnMs } = dependencies

  async function embed({ agent, signal, progressed }: Context, source: ChangingSource): Promise<void> {
    const run = await indexing.begin(agent, source.id)
    const wanted = () => embeddingOf(agent.agentId)
    const until = performance.now() + turnMs
    const embedding = await embedAgain({
      db: agent.db,
      source: run,
      wanted,
      vectors,
      until,
      signal,
      progressed,
    })
    await finish(agent, source, embedding)
  }

  /** Ends the work; a source with an earlier error returns to that error. */
  async function finish(
    { agentId, db }: AgentHandle,
    { id, name, chunks, error }: ChangingSource,
    embedding: string,
  ): Promise<void> {
    const status = error === null ? 'ready' : 'error'
    await transact({ agentId, db }, async (transaction, outbox) => {
      const outcome = { status, progress: 1, updated_at: timestamp(clock) } as const
      if ((await changeSource(transaction, id, outcome)) && status === 'ready')
        await outbox.emit('source.ready', { agent_id: agentId, source_id: id, name, chunks: chunks ?? 0 })
      await changes.beginNext(transaction, outbox, embedding)
    })
  }

  async function fail(
    { agentId, db }: AgentHandle,
    { id, name, new_embedding }: ChangingSource,
    reason: string,
  ): Promise<void> {
    await transact({ agentId, db }, async (transaction, outbox) => {
      const error = `This source could not be embedded by ${new_embedding}: ${reason} ${whatNow}`
      const outcome = { status: 'error', error, new_embedding, updated_at: timestamp(clock) } as const
      if (await changeSource(transaction, id, outcome))
        await outbox.emit('source.error', { agent_id: agentId, source_id: id, name, error })
    })
  }

  return {
    lane: 'documents',
    maxAttempts,
    async run(context) {
      const { agent, payload, signal } = context
      const source = await findChanging(agent.db, sourceToEmbed(payload))
      if (source !== undefined)
        await embed(context, source).catch(error => {
          throw presentable(error, signal)
        })
      // If the source was deleted, others are waiting; and the embedding might have changed again.
      await changes.follow(agent)
    },
    async onFailed({ agent, log, payload }, error) {
      const sourceId = sourceToEmbed(payload)
      log.error({ sourceId, error }, 'a source could not be embedded anew')
      const source = await findChanging(agent.db, sourceId)
      if (source !== undefined) await fail(agent, source, error)
      await changes.follow(agent)
    },
  }
}

const whatNow =
  'It is found as before. Once that is put right, send the embedding settings again, or have the source processed anew.'
