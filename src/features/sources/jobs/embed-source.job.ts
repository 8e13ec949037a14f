import type { EmbeddingModel } from '#models/embeddings/embeddings.ts'
import type { Clock } from '#platform/clock.ts'
import { timestamp } from '#platform/clock.ts'
import { randomIds } from '#platform/ids.ts'
import type { JobContext, JobHandler, Transact } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { embedAgain } from '../embedding/embed-again.ts'
import { isUnderWay, newEmbeddingOf } from '../embedding/embedding-changes.repository.ts'
import type { EmbeddingChanges } from '../embedding/embedding-changes.ts'
import { claim } from '../indexing/generations.ts'
import type { NewVectors } from '../indexing/new-vectors.ts'
import type { SourceEvents } from '../sources.events.ts'
import { updateSource } from '../sources.repository.ts'
import type { Source } from '../sources.schema.ts'
import { sourceIdOf, sourceOfJob } from './source-jobs.ts'
import { presentable } from './source-outcomes.ts'

interface Dependencies {
  embeddingOf(agentId: string): Promise<EmbeddingModel>
  vectors: NewVectors
  changes: Pick<EmbeddingChanges, 'beginNext' | 'follow'>
  transact: Transact<SourceEvents>
  clock: Clock
  /** How long the job works until it lets others go first, in milliseconds. */
  turnMs?: number
}

type Context = JobContext<AgentHandle>

const usualTurnMs = 20_000
/** Runs that may fail while a provider is in trouble, which takes some minutes. */
const maxAttempts = 6

/** Gives a source the vectors of another embedding. An interrupted run is continued by the next one. */
export function createEmbedSourceJob(needs: Dependencies): JobHandler<AgentHandle> {
  const { vectors, changes, transact, clock, embeddingOf, turnMs = usualTurnMs } = needs

  async function embed(context: Context, source: Source): Promise<void> {
    const { agent, signal } = context
    const { db } = agent
    const place = { databasePath: agent.path, sourceId: source.id, attempt: randomIds.record() }
    await claim(db, place)
    const wanted = () => embeddingOf(agent.agentId)
    const until = performance.now() + turnMs
    await finish(agent, source, await embedAgain({ db, source: place, wanted, vectors, until, signal }))
  }

  /** A source that was in error before this returns to that error. */
  async function finish({ agentId, db }: AgentHandle, source: Source, embedding: string): Promise<void> {
    const { id, name, chunks = 0, error } = source
    const status = error === undefined ? 'ready' : 'error'
    await transact({ agentId, db }, async (transaction, outbox) => {
      const isThere = await updateSource(transaction, id, {
        status,
        progress: 1,
        updated_at: timestamp(clock),
      })
      if (isThere && status === 'ready')
        await outbox.emit('source.ready', { agentId, sourceId: id, name, chunks })
      await changes.beginNext(transaction, outbox, embedding)
    })
  }

  async function fail({ agentId, db }: AgentHandle, { id, name }: Source, reason: string): Promise<void> {
    await transact({ agentId, db }, async (transaction, outbox) => {
      const embedding = (await newEmbeddingOf(transaction, id)) ?? ''
      const error = `This source could not be embedded by ${embedding}: ${reason} ${whatNow}`
      const outcome = { status: 'error' as const, error, updated_at: timestamp(clock) }
      if (await updateSource(transaction, id, { ...outcome, new_embedding: embedding }))
        await outbox.emit('source.error', { agentId, sourceId: id, name, error })
    })
  }

  return {
    lane: 'documents',
    maxAttempts,
    async run(context) {
      const source = await sourceOfJob(context)
      if (source !== undefined && (await isUnderWay(context.agent.db, source.id)))
        await embed(context, source).catch(error => {
          throw presentable(error, context.signal)
        })
      // If the source was deleted, others are waiting; and the embedding may have changed since the last look.
      await changes.follow(context.agent)
    },
    async onFailed(context, error) {
      const { agent, log, payload } = context
      log.error({ sourceId: sourceIdOf(payload), error }, 'a source could not be embedded anew')
      const source = await sourceOfJob(context)
      if (source !== undefined && (await isUnderWay(agent.db, source.id))) await fail(agent, source, error)
      await changes.follow(agent)
    },
  }
}

const whatNow =
  'It is found as before. Once that is put right, send the embedding settings again, or have the source processed anew.'
