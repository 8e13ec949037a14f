import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import { type Clock, timestamp } from '#platform/clock.ts'
import type { AnswerEnd } from '#platform/http/gate.ts'
import type { Log } from '#platform/logging/log.ts'
import type { PlatformTables } from '#storage/tables.ts'
import {
  type Claim,
  deleteClaim,
  findClaim,
  freed,
  type Holding,
  insertClaim,
  isIn,
  moveClaim,
  takeClaim,
  updateHeld,
} from './claims.repository.ts'
import type { ResourceRow } from './resources.repository.ts'
import type { Claimed } from './settlements.ts'
import { claimKey, type Offer, type Payment, requirementsOf } from './wire.ts'

/** A request whose response failed may be repeated once with the same payment. */
const maxUses = 2

interface Dependencies {
  platform: Kysely<PlatformTables>
  holding(): Holding
  leaseMs: number
  clock: Clock
  log: Log
}

/** A payment and its request. */
export interface Presented {
  agentId: string
  request: FastifyRequest
  resource: ResourceRow
  offer: Offer
  payment: Payment
}

/** Claims payments, each for one request, and holds the claims while these requests are answered. */
export function createClaims({ platform, holding, leaseMs, clock, log }: Dependencies) {
  function claimOf({ agentId, request, resource, offer, payment }: Presented): Claim<'claimed'> {
    const { holder, expiresAt } = holding()
    const { from, validBefore } = payment.payload.authorization
    const { price: amount, currency, path } = resource
    const claimed: Claimed = {
      payment,
      requirements: requirementsOf(offer, payment.x402Version),
      validBefore,
      sale: { amount, currency, from, to: offer.terms.payTo, note: path },
    }
    return {
      key: claimKey(payment, offer.terms),
      agent_id: agentId,
      binding: bindingOf(request, resource.id, payment),
      state: 'claimed',
      uses: 0,
      holder,
      lease_expires_at: expiresAt,
      payment: JSON.stringify(claimed),
      transaction_id: null,
      created_at: timestamp(clock),
    }
  }

  /** Releases a claim after its request: used up, to be presented again, or deleted if unsettled. */
  async function release(claim: Claim, end: AnswerEnd): Promise<void> {
    const isOpen = end === 'unfinished'
    try {
      if (isIn(claim, 'claimed')) await deleteClaim(platform, claim)
      else if (isIn(claim, 'settled') && (end === 'served' || (!isOpen && claim.uses >= maxUses)))
        await moveClaim(platform, claim, 'served', freed)
      else await updateHeld(platform, claim, isOpen ? { ...freed, uses: claim.uses - 1 } : freed)
    } catch (error) {
      // The lease ends by itself.
      log.warn({ err: error }, 'the claim of a payment could not be released')
    }
  }

  return {
    /** Claims a payment; a presented one only again for the same request, after its response. */
    async take(presented: Presented): Promise<Claim | 'used' | 'busy'> {
      const claim = claimOf(presented)
      if (await insertClaim(platform, claim)) return claim
      const found = await findClaim(platform, { key: claim.key })
      // Its request has just ended, and deleted the claim.
      if (found === undefined) return 'busy'
      if (found.binding !== claim.binding) return 'used'
      const taken = found.state === 'stuck' ? undefined : await takeClaim(platform, claim.key, holding())
      if (taken === undefined) return 'busy'
      if (taken.state !== 'served' && taken.uses < maxUses) return taken
      await release(taken, 'served')
      return 'used'
    },

    /** Renews a claim until the timer is cleared. */
    keep: (claim: Claim): NodeJS.Timeout =>
      setInterval(() => {
        updateHeld(platform, claim, { lease_expires_at: holding().expiresAt }).catch(error =>
          log.warn({ err: error }, 'the claim of a payment could not be renewed'),
        )
      }, leaseMs / 3),

    release,
  }
}

export type Claims = ReturnType<typeof createClaims>

/**
 * Binds a payment to its first request, because its signature covers nothing of the request. The binding
 * includes the signature, which is not verified again, while payer and nonce become public.
 */
function bindingOf(
  { method, originalUrl, body = null }: FastifyRequest,
  resourceId: string,
  payment: Payment,
) {
  return createHash('sha256')
    .update(JSON.stringify([resourceId, method, originalUrl, body, payment.payload.signature]))
    .digest('hex')
}
