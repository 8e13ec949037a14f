import { timestamp } from '#platform/clock.ts'
import { conflict, invalid, required } from '#platform/errors.ts'
import type { ListParameters } from '#platform/http/lists/list-query.ts'
import { anyEvent } from '#platform/jobs/events.ts'
import type { ChangeContext } from '#platform/jobs/jobs.ts'
import type { Outbound } from '#platform/outbound/outbound.ts'
import { inTransaction } from '#platform/transactions/transaction.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { AgentSecrets } from '#storage/encryption/agent-secrets.ts'
import { notSent } from './deliver-webhook.job.ts'
import { newSecret } from './message.ts'
import { deliveryJob, wakeJob } from './queue-deliveries.job.ts'
import {
  countWebhooks,
  deleteWebhook,
  failPending,
  findWebhook,
  listWebhooks,
  saveWebhook,
  toWebhook,
  type WebhookRow,
} from './webhooks.repository.ts'
import type { NewWebhook, Webhook, WebhookChanges } from './webhooks.schema.ts'

/** Time in which the former secret signs beside a new one (ms). */
const overlapMs = 24 * 3_600_000
const maxWebhooks = 50

interface Dependencies extends ChangeContext {
  outbound: Pick<Outbound, 'requirePermitted'>
  agentSecrets: AgentSecrets
  /** Returns the names of all events that can be subscribed to. */
  eventNames(): readonly string[]
}

type RowIn = (transaction: AgentHandle['db']) => Promise<WebhookRow>

export function createWebhooksService({
  transact,
  outbound,
  agentSecrets,
  eventNames,
  clock,
  ids,
}: Dependencies) {
  async function check({ url, events = [] }: WebhookChanges): Promise<void> {
    requireKnown(events, [...eventNames(), anyEvent])
    if (url !== undefined) await outbound.requirePermitted(url, 'url')
  }

  /** Stores a webhook with a new secret; `rowIn` returns the rest of its row. */
  async function store({ agentId, db }: AgentHandle, former: Record<string, string>, rowIn: RowIn) {
    const secret = newSecret()
    const secret_set = await agentSecrets.write(agentId, { ...former, secret })
    try {
      return await inTransaction(db, async transaction => {
        const row = { ...(await rowIn(transaction)), secret_set }
        await saveWebhook(transaction, row)
        return { ...toWebhook(row), secret }
      })
    } catch (error) {
      await agentSecrets.remove(agentId, [secret_set])
      throw error
    }
  }

  return {
    list: ({ db }: AgentHandle, query: ListParameters, isAdmin: boolean) => listWebhooks(db, query, isAdmin),
    get: async ({ db }: AgentHandle, id: string, isAdmin: boolean) =>
      toWebhook(await requireWebhook(db, id), isAdmin),

    async create(agent: AgentHandle, { url, events }: NewWebhook) {
      await check({ url, events })
      const now = timestamp(clock)
      const keptFields = { ...enabled, secret_set: null, created_at: now, updated_at: now }
      const row = { ...keptFields, id: ids.record(), url, events: textOf(events) }
      return store(agent, {}, async transaction => {
        if ((await countWebhooks(transaction)) < maxWebhooks) return row
        throw conflict(`An agent has at most ${maxWebhooks} webhooks. Delete one first.`)
      })
    },

    /** Updates a webhook. Running deliveries are sent again to a new address, and not to a disabled one. */
    async update(agent: AgentHandle, id: string, changes: WebhookChanges): Promise<Webhook> {
      await check(changes)
      const { url, events } = changes
      return await transact(agent, async (transaction, outbox) => {
        const row = await requireWebhook(transaction, id)
        const changed = {
          ...row,
          ...(url !== undefined && url !== row.url && { url, failing_since: null }),
          ...(events && { events: textOf(events) }),
          ...stateAfter(changes, row),
          updated_at: timestamp(clock),
        }
        await saveWebhook(transaction, changed)
        await outbox.cancel(deliveryJob(id).key)
        if (changed.disabled_reason === null) await outbox.add(wakeJob(id))
        else await failPending(transaction, id, notSent(changed.disabled_reason))
        return toWebhook(changed)
      })
    },

    async rotate(agent: AgentHandle, id: string) {
      const { secret_set } = await requireWebhook(agent.db, id)
      const { secret: previous } = await agentSecrets.read(agent.agentId, secret_set)
      const replaced = conflict('The secret has just been replaced. Use the new one, or try again.')
      if (previous === undefined) throw replaced
      const previous_until = new Date(clock.now() + overlapMs).toISOString()
      const rotated = await store(agent, { previous, previous_until }, async transaction => {
        const row = await requireWebhook(transaction, id)
        if (row.secret_set !== secret_set) throw replaced
        return { ...row, updated_at: timestamp(clock) }
      })
      await agentSecrets.remove(agent.agentId, [secret_set])
      return rotated
    },

    async remove(agent: AgentHandle, id: string): Promise<void> {
      const { secret_set } = await transact(agent, async (transaction, outbox) => {
        await outbox.cancel(deliveryJob(id).key)
        const row = await requireWebhook(transaction, id)
        await deleteWebhook(transaction, id)
        return row
      })
      await agentSecrets.remove(agent.agentId, [secret_set])
    },
  }
}

export type WebhooksService = ReturnType<typeof createWebhooksService>

const enabled = { disabled_reason: null, failing_since: null }

function stateAfter({ enabled: isEnabled }: WebhookChanges, row: WebhookRow): Partial<WebhookRow> {
  if (isEnabled === undefined) return {}
  return isEnabled ? enabled : { disabled_reason: row.disabled_reason ?? 'Disabled by a person.' }
}

function requireKnown(events: readonly string[], known: readonly string[]): void {
  const unknown = events.find(event => !known.includes(event))
  if (unknown !== undefined) throw invalid('events', `"${unknown}" is none of ${known.join(', ')}`)
}

function textOf(events: readonly string[]): string {
  return JSON.stringify([...new Set(events)])
}

export async function requireWebhook(database: AgentHandle['db'], id: string): Promise<WebhookRow> {
  return required(await findWebhook(database, id), 'Webhook')
}
