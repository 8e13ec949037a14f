import { type Clock, timestamp } from '#platform/clock.ts'
import { type JobContext, type JobHandler, JobYields } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { isSuccess } from './attempts.ts'
import { webhookIn } from './queue-deliveries.job.ts'
import { afterSuccess, recordAttempt } from './record-attempt.ts'
import type { createSending } from './send-delivery.ts'
import {
  type DeliveryRow,
  failPending,
  findWebhook,
  pendingDeliveries,
  recordSuccesses,
  type WebhookRow,
} from './webhooks.repository.ts'

/** Concurrent attempts at one webhook, so that one slow response does not delay the next event. */
const concurrency = 2
/** Max deliveries that are read at a time. */
const portion = 20
/** Time after which a job yields its place to waiting ones (ms). */
const turnMs = 10_000
/** Max runs that end in a fault of the service, over two days; attempts are counted elsewhere. */
const maxAttempts = 10
const fault = 'Not sent, because of a fault of this service. Retry it.'

interface Dependencies {
  /** Returns the sender of one webhook. */
  sendingTo: ReturnType<typeof createSending>
  clock: Clock
}

/** Sends due deliveries of one webhook, until none is left, or for a while. */
export function createDelivering({ sendingTo, clock }: Dependencies): JobHandler<AgentHandle> {
  /** Attempts deliveries, and stores successes by one statement at the end. True if all succeeded. */
  async function attemptAll(
    { agent, signal }: JobContext<AgentHandle>,
    webhook: WebhookRow,
    due: readonly DeliveryRow[],
    turnEnds: number,
  ): Promise<boolean> {
    const send = await sendingTo(agent.agentId, webhook)
    const waiting = [...due]
    const succeeded: DeliveryRow[] = []
    let current = webhook
    async function attemptNext(): Promise<void> {
      const isOver = current.disabled_reason !== null || clock.now() > turnEnds
      const delivery = isOver ? undefined : waiting.shift()
      if (delivery === undefined) return
      const outcome = await send(delivery, signal)
      if (isSuccess(outcome.status) && current.failing_since === null)
        succeeded.push(afterSuccess(delivery, outcome))
      else current = (await recordAttempt(agent.db, clock.now(), current, delivery, outcome)) ?? current
      await attemptNext()
    }
    const ends = await Promise.allSettled(Array.from({ length: concurrency }, attemptNext))
    await recordSuccesses(agent.db, succeeded)
    for (const end of ends) if (end.status === 'rejected') throw end.reason
    return succeeded.length === due.length
  }

  return {
    lane: 'deliveries',
    maxAttempts,
    async run(context) {
      const { db } = context.agent
      const id = webhookIn(context.payload)
      for (const turnEnds = clock.now() + turnMs; clock.now() <= turnEnds; ) {
        const webhook = await findWebhook(db, id)
        if (webhook === undefined) return
        if (webhook.disabled_reason !== null)
          return await failPending(db, id, notSent(webhook.disabled_reason))
        const pending = await pendingDeliveries(db, id, portion)
        const [next] = pending
        if (next === undefined) return
        const now = timestamp(clock)
        // A first attempt is always due, because the clock might have been set back.
        const due = pending.filter(one => one.attempts === 0 || one.next_attempt_at <= now)
        if (due.length === 0) throw new JobYields({ until: Date.parse(next.next_attempt_at) })
        const isAllSent = await attemptAll(context, webhook, due, turnEnds)
        // Deliveries that arrived meanwhile have made this job due again.
        if (isAllSent && due.length === pending.length && pending.length < portion) return
      }
      throw new JobYields()
    },
    onFailed: ({ agent, payload }) => failPending(agent.db, webhookIn(payload), fault),
  }
}

export function notSent(disabledReason: string): string {
  return `Not sent, since the webhook is disabled: ${disabledReason}`
}
