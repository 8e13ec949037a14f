import type { Transaction } from 'kysely'
import type { Static } from 'typebox'
import { Type } from 'typebox'
import { embeddingName } from '#models/embeddings/embedding-name.ts'
import type { EmbeddingModel } from '#models/embeddings/embeddings.ts'
import type { Clock } from '#platform/clock.ts'
import { timestamp } from '#platform/clock.ts'
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

/** Without a key: the status of the source says that there is one. */
function embedJob(sourceId: string) {
  const payload: Static<typeof payloadSchema> = { sourceId }
  return { name: embedJobName, payload }
}

export function sourceToEmbed(payload: unknown): string {
  if (!matches(payloadSchema, payload)) throw new AppError('INTERNAL_ERROR', 'The job names no source.')
  return payload.sourceId
}

/** Settings that decide by which model, if at all, an agent's documents are embedded. */
const decisive: ReadonlySet<string> = new Set([
  'embedding_provider',
  'embedding_model',
  'llm_base_url',
  'openai_api_key',
  'google_api_key',
  'openai_compatible_api_key',
])

/** Whether a change of this setting may change the model that embeds the agent's documents. */
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
 * Has sources embedded again by the embedding that their agent uses now, one source after the other, so that uploads need not
 * wait. To be called whenever that may have changed; a call that finds no change costs two reads.
 */
export function createEmbeddingChanges({ embeddingOf, transact, clock, log }: Dependencies) {
  /** To be called in the transaction that ends the work on a source: begins that on the next one. */
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
     * Begins the work if there is some and none is under way. If the embedding is not available, everything stays as it
     * is. Never throws. `found` names the embeddings that the chunks are known to have.
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
     * The same when the reason of earlier failures may be gone: the sources that failed are tried again, and one that waits
     * after a failure no longer does.
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
