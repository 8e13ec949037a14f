import type { Clock } from '#platform/clock.ts'
import { timestamp } from '#platform/clock.ts'
import type { AgentEvent, EventHandler } from '#platform/jobs/events.ts'
import type { JobContext, JobHandler, NewJob, Transact } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { judge } from './attempts.ts'
import { messageBody, messageId } from './message.ts'
import type { createSend, Outcome } from './send-delivery.ts'
import { createSendLimits } from './send-limits.ts'
import type { DeliveryRow, WebhookRow } from './webhooks.repository.ts'
import {
  findDelivery,
  findWebhook,
  insertDelivery,
  saveWebhook,
  updateDelivery,
} from './webhooks.repository.ts'

export const deliverJobName = 'webhook.deliver'
/** Attempted once, since somebody waits for the result. */
export const testEvent = 'webhook.test'
/** Runs that end in a fault of ours, over two days; attempts are counted elsewhere. */
const maxAttempts = 10

interface Dependencies {
  transact: Transact
  send: ReturnType<typeof createSend>
  clock: Clock
}

/** A delivery, after so many attempts. */
type Attempt = Pick<DeliveryRow, 'id' | 'attempts'>

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

/** Its key tells it from the attempt that adds it. */
export function nextJob({ id, attempts }: Attempt): NewJob & { key: string } {
  return { name: deliverJobName, payload: { id, attempts }, key: `delivery:${id}@${attempts}` }
}

/** Deliveries: the first attempt is part of the event's own job, each later one is a job. */
export function createDelivering({ transact, send, clock }: Dependencies) {
  const limitSends = createSendLimits(clock)

  async function attempt(
    { agent, signal }: JobContext<AgentHandle>,
    webhook: WebhookRow,
    delivery: DeliveryRow,
  ): Promise<void> {
    if (webhook.disabled_reason === null) {
      const outcome = await limitSends(webhook.id, () => send(agent.agentId, webhook, delivery, signal))
      return await record(agent, delivery, outcome)
    }
    const reason = `Not sent, since the webhook is disabled: ${webhook.disabled_reason}`
    await giveUp(agent, delivery.id, reason)
  }

  async function record(agent: AgentHandle, delivery: DeliveryRow, outcome: Outcome): Promise<void> {
    const attempts = delivery.attempts + 1
    const ended = { ...outcome, attempts, isOnly: delivery.event === testEvent }
    const now = clock.now()
    await transact(agent, async (transaction, outbox) => {
      const webhook = await findWebhook(transaction, delivery.webhook_id)
      if (webhook === undefined) return
      const failingSince = webhook.failing_since === null ? null : Date.parse(webhook.failing_since)
      const { status, next, ...verdict } = judge({ ...ended, failingSince, now, random: Math.random() })
      const { status: status_code, durationMs: duration_ms, answer } = outcome
      const changes = { status, attempts, status_code, duration_ms, answer, next_attempt_at: textOf(next) }
      if (!(await updateDelivery(transaction, delivery, changes))) return
      if (next !== null) await outbox.add({ ...nextJob({ id: delivery.id, attempts }), runAt: next })
      if (verdict.disable === null && verdict.failingSince === failingSince) return
      const disabled_reason = webhook.disabled_reason ?? verdict.disable
      const failing_since = textOf(verdict.failingSince)
      await saveWebhook(transaction, { ...webhook, disabled_reason, failing_since })
    })
  }

  async function giveUp({ db }: AgentHandle, id: string, answer: string): Promise<void> {
    const delivery = await findDelivery(db, id)
    if (delivery?.status === 'pending')
      await updateDelivery(db, delivery, { status: 'failed', answer, next_attempt_at: null })
  }

  const fault = 'Not sent, because of a fault of this service. Retry it.'
  const events: EventHandler<AgentHandle> = {
    lane: 'deliveries',
    maxAttempts,
    async handle(event, context) {
      const { db } = context.agent
      const webhook = await findWebhook(db, event.ref)
      if (webhook === undefined) return
      const delivery = await insertDelivery(db, newDelivery(event, timestamp(clock)))
      if (isNext(delivery, 0)) await attempt(context, webhook, delivery)
    },
    onFailed: ({ id, ref }, { agent }) => giveUp(agent, messageId(id, ref), fault),
  }
  const job: JobHandler<AgentHandle> = {
    lane: 'deliveries',
    maxAttempts,
    async run(context) {
      const { db } = context.agent
      const { id, attempts } = context.payload as Attempt
      const delivery = await findDelivery(db, id)
      if (delivery === undefined || !isNext(delivery, attempts)) return
      const webhook = await findWebhook(db, delivery.webhook_id)
      if (webhook !== undefined) await attempt(context, webhook, delivery)
    },
    onFailed: ({ agent, payload }) => giveUp(agent, (payload as Attempt).id, fault),
  }
  return { events, job }
}

/** Whether nobody else has attempted it meanwhile. */
function isNext({ status, attempts }: DeliveryRow, after: number): boolean {
  return status === 'pending' && attempts === after
}

function textOf(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString()
}
