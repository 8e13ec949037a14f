import type { Kysely } from 'kysely'
import { type Clock, timestamp } from '#platform/clock.ts'
import type { Transact } from '#platform/jobs/jobs.ts'
import type { Log } from '#platform/logging/log.ts'
import type { AgentDatabases, AgentHandle } from '#storage/agent-databases.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { Ledger, PaymentOutbox } from '../ledger/ledger.service.ts'
import type { PaymentChange } from '../ledger/merge-transaction.ts'
import type { PaymentEvents } from '../payments.events.ts'
import {
  answerRequest,
  type EarlyChange,
  findCheckout,
  findEvent,
  insertEvent,
  keepEarlyChange,
  takeEarlyChanges,
} from './provider.repository.ts'
import type { WebhookAnswer } from './provider.schema.ts'
import { type Approval, approves, type Meaning, meaningOf, type ProviderEvent } from './provider-events.ts'

/** Retention of events (ms); the provider repeats them for three days. */
const keptMs = 30 * 24 * 3_600_000

interface Dependencies {
  agentDatabases: AgentDatabases
  transact: Transact<PaymentEvents>
  ledger: Ledger
  clock: Clock
  log: Log
}

type Payment = Exclude<Meaning, { problem: string }>

/** Applies each event once, in one transaction with its id; a repeated event gets the former response. */
export function createWebhookService({ agentDatabases, transact, ledger, clock, log }: Dependencies) {
  /** Stores a change without a matching payment: the payment, or more of it, might be reported later. */
  async function pay(
    transaction: Kysely<AgentTables>,
    outbox: PaymentOutbox,
    agentId: string,
    { meaning, ...event }: Pick<EarlyChange, 'event_id' | 'created_at'> & { meaning: Payment },
  ) {
    const changes =
      'report' in meaning
        ? await takeEarlyChanges(transaction, meaning.report.keys)
        : [{ ...event, ...earlyChange(meaning.change) }]
    let entry =
      'report' in meaning ? await ledger.record(transaction, outbox, agentId, meaning.report) : undefined
    for (const reported of changes) {
      const changed = await ledger.change(transaction, outbox, agentId, JSON.parse(reported.change))
      if (changed === undefined) await keepEarlyChange(transaction, reported)
      entry ??= changed
    }
    const checkout = entry && (await findCheckout(transaction, entry.id))
    if (checkout === undefined) return
    const status = ('session' in meaning && meaning.session) || 'complete'
    await answerRequest(transaction, checkout.id, ended(checkout.answer, status))
  }

  function process(agent: AgentHandle, event: ProviderEvent, approval: Approval | undefined) {
    return transact(agent, async (transaction, outbox): Promise<WebhookAnswer> => {
      const before = await findEvent(transaction, event.id)
      if (before !== undefined) return JSON.parse(before)
      const approved = approves(event, approval)
      const meaning = meaningOf(event, agent.agentId)
      const answer = approved === undefined ? { received: true } : { approved }
      const row = { id: event.id, answer: JSON.stringify(answer), created_at: timestamp(clock) }
      if (meaning !== undefined && 'problem' in meaning)
        log.warn(
          { agentId: agent.agentId, event: event.id, problem: meaning.problem },
          'refused an event of the payment provider',
        )
      else if (meaning !== undefined)
        await pay(transaction, outbox, agent.agentId, {
          meaning,
          event_id: event.id,
          created_at: row.created_at,
        })
      if (meaning !== undefined || approved !== undefined)
        await insertEvent(transaction, row, new Date(clock.now() - keptMs).toISOString())
      return answer
    })
  }

  return {
    process: (agentId: string, event: ProviderEvent, approval: Approval | undefined) =>
      agentDatabases.use(agentId, agent => process(agent, event, approval)),
  }
}

export type WebhookService = ReturnType<typeof createWebhookService>

function earlyChange(change: PaymentChange): Pick<EarlyChange, 'payment_key' | 'change'> {
  return { payment_key: change.keys[0] ?? null, change: JSON.stringify(change) }
}

/** Returns the session with its new status; unknown facts stay unknown. */
function ended(keptAnswer: string | null, status: 'complete' | 'expired'): string {
  const { answer = { session_id: '', url: null } } = JSON.parse(keptAnswer ?? '{}')
  return JSON.stringify({ answer: { ...answer, status } })
}
