import type { Kysely } from 'kysely'
import type { Clock } from '#platform/clock.ts'
import { conflict } from '#platform/errors.ts'
import { type JobHandler, JobYields } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { PlatformTables } from '#storage/tables.ts'
import {
  type Claim,
  deleteClaim,
  findClaim,
  freed,
  type Holding,
  isIn,
  moveClaim,
  takeClaim,
  updateHeld,
} from './claims.repository.ts'
import { claimedOf, pauseMs, type Settlements } from './settlements.ts'

/** Time after a payment's expiry in which the facilitator is still queried (ms). */
const graceMs = 60_000

interface Dependencies {
  platform: Kysely<PlatformTables>
  settlements: Settlements
  holding(): Holding
  clock: Clock
}

/** Resolves the outcomes of payments: by the facilitator, or by a person. */
export function createReconciliation({ platform, settlements, holding, clock }: Dependencies) {
  /** Continues after a request that failed, or whose process has died. */
  async function reconcile(agent: AgentHandle, claim: Claim): Promise<void> {
    if (isIn(claim, 'claimed')) return await settlements.forget(agent, claim, 'job')
    const { outcome } = await settlements.settle(agent, claim, 'job')
    if (outcome === 'settled' || !isIn(claim, 'settling')) return
    const now = clock.now()
    // Intervals grow with the payment's age, because the payer chooses its validity.
    const pause = Math.max(pauseMs, (now - Date.parse(claim.created_at)) / 10)
    const { validBefore } = claimedOf(claim)
    if (now < Number(validBefore) * 1000 + graceMs) throw new JobYields({ until: now + pause })
    await moveClaim(platform, claim, 'stuck')
  }

  const job: JobHandler<AgentHandle> = {
    lane: 'deliveries',
    async run({ agent, payload }) {
      const { key, createdAt } = payload as { key: string; createdAt: string }
      const found = await findClaim(platform, { key })
      const isOver = found === undefined || found.created_at !== createdAt
      if (isOver || found.state === 'stuck' || found.state === 'served') return
      const claim = await takeClaim(platform, key, holding())
      if (claim === undefined) throw new JobYields({ until: clock.now() + pauseMs })
      try {
        await reconcile(agent, claim)
      } finally {
        await updateHeld(platform, claim, freed)
      }
    },
  }

  return {
    job,

    /** Applies a person's outcome of a payment: it can be used, or it is deleted. */
    async resolve(agentId: string, transactionId: string, outcome: 'settled' | 'failed'): Promise<void> {
      const found = await findClaim(platform, { agent_id: agentId, transaction_id: transactionId })
      if (found === undefined) return
      const claim = await takeClaim(platform, found.key, holding())
      if (claim === undefined)
        throw conflict('The facilitator is being asked about this payment. Try again soon.')
      if (outcome === 'failed') await deleteClaim(platform, claim)
      else if (isIn(claim, 'settling', 'stuck')) await moveClaim(platform, claim, 'settled', freed)
      else await updateHeld(platform, claim, freed)
    },
  }
}
