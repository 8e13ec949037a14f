import { timestamp } from '#platform/clock.ts'
import { AppError } from '#platform/errors.ts'
import type { ChangeContext } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { sumSpent } from '../ledger/ledger.repository.ts'
import type { Ledger } from '../ledger/ledger.service.ts'
import type { PaymentReport } from '../ledger/merge-transaction.ts'
import { add, compare, multiply } from '../money.ts'
import type { PaymentEvents } from '../payments.events.ts'

export interface Limits {
  /** Decimals: dollars a day (UTC), and for one payment, which defaults to a tenth of that. */
  daily: string
  payment: string | undefined
}

interface Dependencies extends ChangeContext<PaymentEvents> {
  ledger: Ledger
}

type Bought = Pick<PaymentReport, 'amount' | 'currency' | 'from' | 'to' | 'reference' | 'note'>

/** An agent's spending: a payment counts from before its signature until it is certainly not made. */
export function createSpending({ transact, ledger, clock, ids }: Dependencies) {
  function recordState(agent: AgentHandle, key: string, bought: Bought, state: PaymentReport['state']) {
    return transact(agent, (transaction, outbox) => {
      const report = { ...bought, type: 'outbound', source: 'x402', keys: [key], state } as const
      return ledger.record(transaction, outbox, agent.agentId, report)
    })
  }

  return {
    /** Reserves the amount. Throws TOOL_FAILED above a limit. */
    async reserve(agent: AgentHandle, bought: Bought, { daily, payment }: Limits) {
      const { amount } = bought
      const isTooMuch =
        payment === undefined ? compare(multiply(amount, 10, 'USD'), daily) > 0 : compare(amount, payment) > 0
      if (isTooMuch) throw refused(`more than one payment may be`)
      const key = `x402-bought:${ids.record()}`
      await transact(agent, async (transaction, outbox) => {
        const today = timestamp(clock).slice(0, 10)
        const spent = await sumSpent(transaction, today)
        if (compare(add(spent, amount, 'USD'), daily) > 0) throw refused(`more than is left of today's limit`)
        const report = { ...bought, type: 'outbound', source: 'x402', keys: [key], state: 'pending' } as const
        await ledger.record(transaction, outbox, agent.agentId, report)
      })
      return {
        /** `note` is the seller's message. */
        settled: (note: string) => recordState(agent, key, { ...bought, note }, 'settled'),
        /** No payment was sent to the seller. */
        release: () => recordState(agent, key, bought, 'failed'),
      }
    },
  }
}

export type Spending = ReturnType<typeof createSpending>

function refused(why: string): AppError {
  return new AppError(
    'TOOL_FAILED',
    `Nothing was paid: the price is ${why}. Tell the person who owns this agent.`,
  )
}
