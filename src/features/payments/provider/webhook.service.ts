import type { Kysely } from 'kysely'
import type { Clock } from '#platform/clock.ts'
import { timestamp } from '#platform/clock.ts'
import type { Transact } from '#platform/jobs/jobs.ts'
import type { Log } from '#platform/logging/log.ts'
import type { AgentDatabases, AgentHandle } from '#storage/agent-databases.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { Ledger, PaymentOutbox } from '../ledger/ledger.service.ts'
import type { PaymentEvents } from '../payments.events.ts'
import { answerRequest, findCheckout, findEvent, insertEvent } from './provider.repository.ts'
import type { WebhookAnswer } from './provider.schema.ts'
import type { Approval, Meaning, ProviderEvent } from './provider-events.ts'
import { approves, meaningOf } from './provider-events.ts'

/** The provider repeats events for three days. */
const keptMs = 30 * 24 * 3_600_000

interface Dependencies {
  agentDatabases: AgentDatabases
  transact: Transact<PaymentEvents>
  ledger: Ledger
  clock: Clock
  log: Log
}

/** Each event has its effect once, in one transaction with its id; repeated, it is answered as before. */
export function createWebhookService({ agentDatabases, transact, ledger, clock, log }: Dependencies) {
  async function pay(
    transaction: Kysely<AgentTables>,
    outbox: PaymentOutbox,
    agentId: string,
    meaning: Exclude<Meaning, { problem: string }>,
  ) {
    const entry =
      'report' in meaning
        ? await ledger.record(transaction, outbox, agentId, meaning.report)
        : await ledger.change(transaction, outbox, agentId, meaning.change)
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
      else if (meaning !== undefined) await pay(transaction, outbox, agent.agentId, meaning)
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

/** The session as it is from now on; what was not known of it stays so. */
function ended(kept: string | null, status: 'complete' | 'expired'): string {
  const { answer = { session_id: '', url: null } } = JSON.parse(kept ?? '{}')
  return JSON.stringify({ answer: { ...answer, status } })
}
