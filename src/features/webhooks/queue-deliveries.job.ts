import { type Clock, timestamp } from '#platform/clock.ts'
import type { AgentEvent, SharedEventHandler } from '#platform/jobs/events.ts'
import type { EnsureJobs, JobHandler, KeyedJob, NewJob } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { messageBody, messageId } from './message.ts'
import {
  type DeliveryRow,
  existingWebhooks,
  insertDeliveries,
  removeOldDeliveries,
} from './webhooks.repository.ts'

/** Attempted only once, because a person waits for the result. */
export const testEvent = 'webhook.test'
export const deliverJobName = 'webhook.deliver'
export const wakeJobName = 'webhook.wake'

export function newDelivery(event: AgentEvent, now: string): DeliveryRow {
  return {
    id: messageId(event.id, event.ref),
    webhook_id: event.ref,
    event: event.name,
    body: messageBody(event),
    status: 'pending',
    attempts: 0,
    status_code: null,
    duration_ms: null,
    answer: null,
    next_attempt_at: now,
    created_at: now,
  }
}

/** Stores the deliveries of an event, and starts the job of each webhook. */
export function createQueueing({ ensureJobs, clock }: { ensureJobs: EnsureJobs; clock: Clock }) {
  const events: SharedEventHandler<AgentHandle> = {
    lane: 'deliveries',
    isShared: true,
    async handle({ refs, ...event }, { agent }) {
      const now = timestamp(clock)
      const ids = await existingWebhooks(agent.db, refs)
      const rows = ids.map(ref => newDelivery({ ...event, ref }, now))
      await insertDeliveries(agent.db, rows)
      await removeOldDeliveries(agent.db, ids, clock.now())
      await ensureJobs(agent, ids.map(deliveryJob))
    },
  }
  const wake: JobHandler<AgentHandle> = {
    lane: 'deliveries',
    run: async ({ agent, payload }) => await ensureJobs(agent, [deliveryJob(webhookIn(payload))]),
  }
  return { events, wake }
}

/** Sends due deliveries of a webhook after the transaction that adds the job. */
export function wakeJob(webhookId: string): NewJob {
  return { name: wakeJobName, payload: { webhookId } }
}

/** Sends due deliveries of a webhook: one job for each, so that none waits for another's receiver. */
export function deliveryJob(webhookId: string): KeyedJob {
  return { name: deliverJobName, payload: { webhookId }, key: `webhook:${webhookId}` }
}

export function webhookIn(payload: unknown): string {
  return (payload as { webhookId: string }).webhookId
}
