import { timestamp } from '#platform/clock.ts'
import { conflict, notFound, required } from '#platform/errors.ts'
import type { ChangeContext } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { newDelivery, testEvent, wakeJob } from './queue-deliveries.job.ts'
import { findDelivery, insertDeliveries, listDeliveries, updateDelivery } from './webhooks.repository.ts'
import type { Delivery, DeliveryListQuery } from './webhooks.schema.ts'
import { requireWebhook } from './webhooks.service.ts'

type Dependencies = ChangeContext

export function createDeliveriesService({ transact, clock, ids }: Dependencies) {
  return {
    async list({ db }: AgentHandle, webhookId: string, query: DeliveryListQuery) {
      await requireWebhook(db, webhookId)
      return await listDeliveries(db, webhookId, query, clock.now())
    },

    test(agent: AgentHandle, ref: string): Promise<Delivery> {
      return transact(agent, async (transaction, outbox) => {
        await requireEnabled(transaction, ref)
        const payload = { agent_id: agent.agentId, webhook_id: ref }
        const event = { id: ids.record(), name: testEvent, time: clock.now(), ref, payload }
        const delivery = newDelivery(event, timestamp(clock))
        await insertDeliveries(transaction, [delivery])
        await outbox.add(wakeJob(ref))
        return delivery as Delivery
      })
    },

    /** Makes a delivery due at once, with all its attempts; a due one is left unchanged. */
    retry(agent: AgentHandle, webhookId: string, id: string): Promise<Delivery> {
      return transact(agent, async (transaction, outbox) => {
        await requireEnabled(transaction, webhookId)
        const delivery = required(await findDelivery(transaction, id), 'Delivery')
        if (delivery.webhook_id !== webhookId) throw notFound('Delivery')
        const now = timestamp(clock)
        const { next_attempt_at } = delivery
        if (next_attempt_at !== null && next_attempt_at <= now) return delivery as Delivery
        const due = { ...delivery, status: 'pending', attempts: 0, next_attempt_at: now }
        await updateDelivery(transaction, delivery, due)
        await outbox.add(wakeJob(webhookId))
        return due as Delivery
      })
    },
  }
}

export type DeliveriesService = ReturnType<typeof createDeliveriesService>

async function requireEnabled(database: AgentHandle['db'], id: string): Promise<void> {
  const { disabled_reason } = await requireWebhook(database, id)
  if (disabled_reason !== null) throw conflict(`The webhook is disabled: ${disabled_reason} Enable it first.`)
}
