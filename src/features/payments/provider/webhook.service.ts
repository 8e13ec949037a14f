import type { Kysely } from 'kysely'
import type { Clock } from '#platform/clock.ts'
import { timestamp } from '#platform/clock.ts'
import type { Transact } from '#platform/jobs/jobs.ts'
import type { AgentDatabases, AgentHandle } from '#storage/agent-databases.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { Ledger, PaymentOutbox } from '../ledger/ledger.service.ts'
import type { PaymentReport } from '../ledger/merge-transaction.ts'
import type { PaymentEvents } from '../payments.events.ts'
import { answerRequest, findCheckout, findEvent, insertEvent } from './provider.repository.ts'
import type { WebhookAnswer } from './provider.schema.ts'
import type { Approval, ProviderEvent } from './provider-events.ts'
import { approves, paymentIn } from './provider-events.ts'

/** The provider repeats events for three days. */
const keptMs = 30 * 24 * 3_600_000

interface Dependencies {
  agentDatabases: AgentDatabases
  transact: Transact<PaymentEvents>
  ledger: Ledger
  clock: Clock
}

/** Each event has its effect once, in one transaction with its id; repeated, it is answered as before. */
export function createWebhookService({ agentDatabases, transact, ledger, clock }: Dependencies) {
  async function pay(
    transaction: Kysely<AgentTables>,
    outbox: PaymentOutbox,
    agentId: string,
    report: PaymentReport,
  ) {
    const { id } = await ledger.record(transaction, outbox, agentId, report)
    const checkout = await findCheckout(transaction, id)
    if (checkout !== undefined) await answerRequest(transaction, checkout.id, completed(checkout.answer))
  }

  function process(agent: AgentHandle, event: ProviderEvent, approval: Approval | undefined) {
    return transact(agent, async (transaction, outbox): Promise<WebhookAnswer> => {
      const before = await findEvent(transaction, event.id)
      if (before !== undefined) return JSON.parse(before)
      const approved = approves(event, approval)
      const report = paymentIn(event, agent.agentId)
      const answer = approved === undefined ? { received: true } : { approved }
      const row = { id: event.id, answer: JSON.stringify(answer), created_at: timestamp(clock) }
      if (report !== undefined) await pay(transaction, outbox, agent.agentId, report)
      if (report !== undefined || approved !== undefined)
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
function completed(kept: string | null): string {
  const { answer = { session_id: '', url: null } } = JSON.parse(kept ?? '{}')
  return JSON.stringify({ answer: { ...answer, status: 'complete' } })
}
