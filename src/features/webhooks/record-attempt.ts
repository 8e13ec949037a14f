import { inTransaction } from '#platform/transactions/transaction.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { judge } from './attempts.ts'
import { testEvent } from './queue-deliveries.job.ts'
import type { Outcome } from './send-delivery.ts'
import {
  type DeliveryRow,
  findWebhook,
  saveWebhook,
  setFailingSince,
  updateDelivery,
  type WebhookRow,
} from './webhooks.repository.ts'

/** Stores the outcome of an attempt. Returns the webhook if the outcome has changed it. */
export async function recordAttempt(
  db: AgentHandle['db'],
  now: number,
  webhook: WebhookRow,
  delivery: DeliveryRow,
  outcome: Outcome,
): Promise<WebhookRow | undefined> {
  const attempts = delivery.attempts + 1
  const ended = { ...outcome, attempts, isOnly: delivery.event === testEvent, now, random: Math.random() }
  const after = ({ failing_since, disabled_reason }: WebhookRow) => {
    const failingSince = failing_since === null ? null : Date.parse(failing_since)
    const verdict = judge({ ...ended, failingSince })
    return {
      state: {
        failing_since: textOf(verdict.failingSince),
        disabled_reason: disabled_reason ?? verdict.disable,
      },
      delivery: {
        status: verdict.status,
        attempts,
        status_code: outcome.status,
        duration_ms: outcome.durationMs,
        answer: outcome.answer,
        next_attempt_at: textOf(verdict.next),
      },
    }
  }
  const expected = after(webhook)
  if (isSame(expected.state, webhook)) {
    await updateDelivery(db, delivery, expected.delivery)
    return undefined
  }
  return await inTransaction(db, async transaction => {
    const current = await findWebhook(transaction, webhook.id)
    if (current === undefined) return undefined
    const { state, delivery: changes } = after(current)
    if (!(await updateDelivery(transaction, delivery, changes))) return undefined
    const changed = { ...current, ...state }
    if (changed.disabled_reason === current.disabled_reason)
      await setFailingSince(transaction, webhook.id, changed.failing_since)
    else await saveWebhook(transaction, changed)
    return changed
  })
}

/** Returns the delivery after a success of a webhook whose last attempt succeeded, too. */
export function afterSuccess(delivery: DeliveryRow, { status, durationMs, answer }: Outcome): DeliveryRow {
  return {
    ...delivery,
    status: 'succeeded',
    attempts: delivery.attempts + 1,
    status_code: status,
    duration_ms: durationMs,
    answer,
    next_attempt_at: null,
  }
}

type State = Pick<WebhookRow, 'failing_since' | 'disabled_reason'>

function isSame(one: State, other: State): boolean {
  return one.failing_since === other.failing_since && one.disabled_reason === other.disabled_reason
}

function textOf(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString()
}
