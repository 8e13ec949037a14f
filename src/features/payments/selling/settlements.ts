import type { Kysely } from 'kysely'
import type { Clock } from '#platform/clock.ts'
import type { Transact } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { PlatformTables } from '#storage/tables.ts'
import type { Ledger } from '../ledger/ledger.service.ts'
import type { PaymentEvents } from '../payments.events.ts'
import type { Claim } from './claims.repository.ts'
import { deleteClaim, updateClaim } from './claims.repository.ts'
import type { Facilitator, Settlement } from './facilitator.ts'
import type { Receipt } from './resources.schema.ts'

export const reconcileJobName = 'payments.reconcile'

/** How often an open payment is asked about, in milliseconds: longer than asking takes. */
export const pauseMs = 15_000

/** The column `payment` of a claim. */
export interface Claimed {
  payment: unknown
  requirements: unknown
  /** After this, nobody can settle it any more: Unix seconds. */
  validBefore: string
  /** What was sold for how much, and between whom. */
  sale: { amount: string; currency: string; from: string; to: string; note: string }
  receipt?: Receipt
}

interface Dependencies {
  platform: Kysely<PlatformTables>
  transact: Transact<PaymentEvents>
  ledger: Ledger
  /** Undefined if none is configured (any more). */
  facilitator: Facilitator | undefined
  clock: Clock
}

/**
 * Has claimed payments settled. That one will be is written down before the facilitator is asked: a payment of which the
 * outcome is not known is asked about until it is, by its job and by whoever presents it again.
 */
export function createSettlements(needs: Dependencies) {
  const { platform, transact, ledger, facilitator, clock } = needs

  /** Tells the ledger; gives the id of the transaction. */
  function record(
    agent: AgentHandle,
    claim: Claim,
    told: { state: 'pending' | 'settled' | 'failed'; reference?: string },
    after?: 'add' | 'cancel',
  ): Promise<string> {
    const { amount, currency, from, to, note } = claimedOf(claim).sale
    const job = jobOf(claim)
    return transact(agent, async (transaction, outbox) => {
      const paid = { type: 'x402', source: 'x402', amount, currency, from, to, note, ...told } as const
      const keys = [`${job.key}@${claim.created_at}`]
      const { id } = await ledger.record(transaction, outbox, agent.agentId, { ...paid, keys })
      if (after === 'add') await outbox.add({ ...job, runAt: clock.now() + pauseMs })
      if (after === 'cancel') await outbox.cancel(job.key)
      return id
    })
  }

  /** What the facilitator says. Once it may have settled a payment, its refusals tell nothing for certain. */
  async function ask(claim: Claim, isRepeated: boolean): Promise<Settlement> {
    const settlement = (await facilitator?.settle(claimedOf(claim))) ?? { outcome: 'unknown' }
    return settlement.outcome === 'refused' && isRepeated ? { outcome: 'unknown' } : settlement
  }

  /** Undefined, and nothing is recorded, if somebody else holds the claim by now. */
  async function complete(
    agent: AgentHandle,
    claim: Claim,
    { transaction, payer }: { transaction: string; payer: string },
    isJob = false,
  ): Promise<Claim | undefined> {
    const claimed = claimedOf(claim)
    const { network = '' } = claimed.requirements as { network?: string }
    const receipt = {
      transaction_id: claim.transaction_id ?? '',
      transaction,
      network,
      payer: payer || claimed.sale.from,
    }
    const payment = JSON.stringify({ ...claimed, receipt })
    // A request that had it settled answers it next.
    const settled = { state: 'settled', payment, uses: claim.uses + (isJob ? 0 : 1) }
    if (!(await updateClaim(platform, claim, settled))) return undefined
    const told = { state: 'settled', ...(transaction && { reference: transaction }) } as const
    await record(agent, claim, told, isJob ? undefined : 'cancel')
    return { ...claim, ...settled }
  }

  /** Settles a claim that this process holds. */
  async function settle(
    agent: AgentHandle,
    given: Claim,
    isJob = false,
  ): Promise<Settlement & { claim: Claim }> {
    const isRepeated = given.state === 'settling'
    let claim = given
    if (!isRepeated) {
      const transaction_id = await record(agent, claim, { state: 'pending' }, 'add')
      claim = { ...claim, state: 'settling', transaction_id }
      // Whoever lost the claim must not ask.
      if (!(await updateClaim(platform, claim, { state: 'settling', transaction_id })))
        return { outcome: 'unknown', claim }
    }
    const settlement = await ask(claim, isRepeated)
    if (settlement.outcome === 'settled') {
      const completed = await complete(agent, claim, settlement, isJob)
      return completed === undefined ? { outcome: 'unknown', claim } : { ...settlement, claim: completed }
    }
    if (settlement.outcome === 'refused') {
      // In this order: without its claim, nobody would find a transaction that is still pending.
      await record(agent, claim, { state: 'failed' }, 'cancel')
      await deleteClaim(platform, claim)
    }
    return { ...settlement, claim }
  }

  return { settle, complete, record }
}

export type Settlements = ReturnType<typeof createSettlements>

export function claimedOf({ payment }: Claim): Claimed {
  return JSON.parse(payment)
}

function jobOf({ key, created_at }: Claim) {
  return { name: reconcileJobName, payload: { key, createdAt: created_at }, key: `x402:${key}` }
}
