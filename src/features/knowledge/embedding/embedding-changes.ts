import type { Transaction } from 'kysely'
import { type Static, Type } from 'typebox'
import { embeddingName } from '#models/embeddings/embedding-name.ts'
import type { EmbeddingModel } from '#models/embeddings/embeddings.ts'
import { type Clock, timestamp } from '#platform/clock.ts'
import { AppError } from '#platform/errors.ts'
import type { Outbox, Transact } from '#platform/jobs/jobs.ts'
import type { Log } from '#platform/logging/log.ts'
import { matches } from '#platform/schema-check.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { SourceEvents } from '../knowledge.events.ts'
import { changeSource, forgetFailures, isAnyChanging, nextToChange } from '../source-rows.repository.ts'

export const embedJobName = 'source.embed'

const payloadSchema = Type.Object({ sourceId: Type.String() })

/** Returns the job, without a key: the status of the source shows that it exists. */
function embedJob(sourceId: string) {
  const payload: Static<typeof payloadSchema> = { sourceId }
  return { name: embedJobName, payload }
}

export function sourceToEmbed(payload: unknown): string {
  if (!matches(payloadSchema, payload)) throw new AppError('INTERNAL_ERROR', 'The job names no source.')
  return payload.sourceId
}

/** Settings that decide the embedding model of an agent's documents. */
const decisive: ReadonlySet<string> = new Set([
  'embedding_provider',
  'embedding_model',
  'llm_base_url',
  'openai_api_key',
  'google_api_key',
  'openai_compatible_api_key',
])

/** Returns true if a change of this setting might change the agent's embedding model. */
export function concernsEmbedding(setting: string): boolean {
  return decisive.has(setting)
}

interface Dependencies {
  embeddingOf(agentId: string): Promise<EmbeddingModel>
  transact: Transact<SourceEvents>
  clock: Clock
  log: Log
}

/**
 * Embeds sources again with their agent's current embedding, one source after the other, so that uploads need
 * not wait. To be called whenever that might have changed; a call without a change costs two reads.
 */
export function createEmbeddingChanges({ embeddingOf, transact, clock, log }: Dependencies) {
  /** Begins with the next source, in the transaction that ends the work on one. */
  async function beginNext(
    transaction: Transaction<AgentTables>,
    outbox: Outbox<SourceEvents>,
    embedding: string,
  ): Promise<void> {
    if (await isAnyChanging(transaction)) return
    const next = await nextToChange(transaction, embedding)
    if (next === undefined) return
    const { id, isBroken } = next
    const state = { status: 'updating' as const, progress: 0, new_embedding: embedding }
    const changes = { ...state, ...(!isBroken && { error: null }), updated_at: timestamp(clock) }
    await changeSource(transaction, id, changes)
    await outbox.add(embedJob(id))
  }

  return {
    beginNext,

    /**
     * Begins the work if necessary, unless it is in progress. If the embedding is not available, nothing
     * changes. Never throws. `found` names the known embeddings of the chunks.
     */
    async follow({ agentId, db }: AgentHandle, found?: readonly string[]): Promise<void> {
      try {
        const embedding = embeddingName(await embeddingOf(agentId))
        if (found?.every(name => name === embedding)) return
        if ((await isAnyChanging(db)) || (await nextToChange(db, embedding)) === undefined) return
        await transact({ agentId, db }, (transaction, outbox) => beginNext(transaction, outbox, embedding))
      } catch (error) {
        log.warn({ err: error, agentId }, 'the sources of this agent keep the embedding that they have')
      }
    },

    /**
     * Follows a change that might fix earlier failures: failed sources are tried again, and the job does not
     * wait for its retry.
     */
    async followAgain({ agentId, db }: AgentHandle): Promise<void> {
      const embedding = embeddingName(await embeddingOf(agentId))
      await transact({ agentId, db }, async (transaction, outbox) => {
        await forgetFailures(transaction)
        await outbox.runNow(embedJobName)
        await beginNext(transaction, outbox, embedding)
      })
    },
  }
}

export type EmbeddingChanges = ReturnType<typeof createEmbeddingChanges>
