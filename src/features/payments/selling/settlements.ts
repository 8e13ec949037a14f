import type { Kysely } from 'kysely'
import type { Clock } from '#platform/clock.ts'
import type { Transact } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { PlatformTables } from '#storage/tables.ts'
import type { Ledger } from '../ledger/ledger.service.ts'
import type { PaymentEvents } from '../payments.events.ts'
import { type Claim, deleteClaim, freed, isIn, moveClaim, updateHeld } from './claims.repository.ts'
import type { Facilitator } from './facilitator.ts'
import type { Receipt } from './resources.schema.ts'

export const reconcileJobName = 'payments.reconcile'

/** Interval between two queries to the facilitator about an open payment (ms): longer than a query. */
export const pauseMs = 15_000

/** The column `payment` of a claim. */
export interface Claimed {
  payment: unknown
  requirements: unknown
  /** Unix seconds after which the payment can't be settled. */
  validBefore: string
  /** The price and the two parties of the sale. */
  sale: { amount: string; currency: string; from: string; to: string; note: string }
  /** Absent before settlement, and for a settlement by a person. */
  receipt?: Receipt
}

/** `request` answers its caller next; `job` continues a claim whose request has ended. */
type SettledBy = 'request' | 'job'

/** The outcome of settling. An unsettled claim is not held any more; a refused one is deleted. */
export type Outcome =
  | { outcome: 'settled'; claim: Claim<'settled'>; receipt: Receipt }
  | { outcome: 'refused'; reason: string }
  | { outcome: 'unknown' }

interface Dependencies {
  platform: Kysely<PlatformTables>
  transact: Transact<PaymentEvents>
  ledger: Ledger
  /** Undefined if none is configured (any more). */
  facilitator: Facilitator | undefined
  clock: Clock
}

/**
 * Settles claimed payments. A claim is moved to `settling` before it is sent to the facilitator; after that,
 * its job and each request that presents it query the facilitator until the outcome is known.
 */
export function createSettlements({ platform, transact, ledger, facilitator, clock }: Dependencies) {
  /** Writes the state to the ledger; returns the id of the transaction. */
  function record(
    agent: AgentHandle,
    claim: Claim,
    state: 'pending' | 'settled' | 'failed',
    { by, reference }: { by: SettledBy; reference?: string },
  ): Promise<string> {
    const { amount, currency, from, to, note } = claimedOf(claim).sale
    const job = jobOf(claim)
    return transact(agent, async (transaction, outbox) => {
      const paid = { type: 'x402', source: 'x402', amount, currency, from, to, note, state } as const
      const keys = [`${job.key}@${claim.created_at}`]
      const recorded = { ...paid, keys, ...(reference && { reference }) }
      const { id } = await ledger.record(transaction, outbox, agent.agentId, recorded)
      if (state === 'pending') await outbox.add({ ...job, runAt: clock.now() + pauseMs })
      else if (by === 'request') await outbox.cancel(job.key)
      return id
    })
  }

  /** Moves the claim before its ledger entry: a process that finds it settled can record it. */
  async function complete(
    agent: AgentHandle,
    claim: Claim<'settling' | 'settled'>,
    { transaction, payer }: Pick<Receipt, 'transaction' | 'payer'>,
    by: SettledBy,
  ): Promise<Outcome> {
    const claimed = claimedOf(claim)
    const { network = '' } = claimed.requirements as { network?: string }
    const transaction_id = claim.transaction_id ?? ''
    const receipt = { transaction_id, transaction, network, payer: payer || claimed.sale.from }
    const payment = JSON.stringify({ ...claimed, receipt })
    const uses = claim.uses + (by === 'request' ? 1 : 0)
    const settled = await moveClaim(platform, claim, 'settled', { payment, uses })
    if (settled === undefined) return { outcome: 'unknown' }
    await record(agent, claim, 'settled', { by, reference: transaction })
    return { outcome: 'settled', claim: settled, receipt }
  }

  async function announce(agent: AgentHandle, claim: Claim<'claimed'>, by: SettledBy) {
    const transaction_id = await record(agent, claim, 'pending', { by })
    return await moveClaim(platform, claim, 'settling', { transaction_id })
  }

  /** Deletes an unsettled claim after its ledger entry, as only the claim leads to a pending transaction. */
  async function forget(agent: AgentHandle, claim: Claim, by: SettledBy): Promise<void> {
    await record(agent, claim, 'failed', { by })
    await deleteClaim(platform, claim)
  }

  return {
    forget,

    /** Settles a claim that this process holds. */
    async settle(agent: AgentHandle, given: Claim, by: SettledBy): Promise<Outcome> {
      // Its process might have died before recording the settlement, or a person has settled it.
      if (isIn(given, 'settled'))
        return await complete(agent, given, claimedOf(given).receipt ?? { transaction: '', payer: '' }, by)
      const claim = isIn(given, 'claimed') ? await announce(agent, given, by) : given
      if (claim === undefined || !isIn(claim, 'settling')) return { outcome: 'unknown' }
      const settlement = (await facilitator?.settle(claimedOf(claim))) ?? { outcome: 'unknown' }
      if (settlement.outcome === 'settled') return await complete(agent, claim, settlement, by)
      // The first of several attempts might have settled it: the refusal of another proves nothing.
      if (settlement.outcome === 'refused' && given.state === 'claimed') {
        await forget(agent, claim, by)
        return settlement
      }
      if (by === 'request') await updateHeld(platform, claim, freed)
      return { outcome: 'unknown' }
    },
  }
}

export type Settlements = ReturnType<typeof createSettlements>

export function claimedOf({ payment }: Claim): Claimed {
  return JSON.parse(payment)
}

function jobOf({ key, created_at }: Claim) {
  return { name: reconcileJobName, payload: { key, createdAt: created_at }, key: `x402:${key}` }
}
