import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import type { Clock } from '#platform/clock.ts'
import { timestamp } from '#platform/clock.ts'
import type { Log } from '#platform/logging/log.ts'
import type { PlatformTables } from '#storage/tables.ts'
import type { Claim, Holding } from './claims.repository.ts'
import { findClaim, freed, insertClaim, takeClaim, updateClaim } from './claims.repository.ts'
import type { ResourceRow } from './resources.repository.ts'
import type { Claimed } from './settlements.ts'
import type { Offer, Payment } from './wire.ts'
import { claimKey, requirementsOf } from './wire.ts'

/** An answer that failed may be asked for once more with the same payment. */
export const maxUses = 2

export interface Presenting {
  platform: Kysely<PlatformTables>
  request: FastifyRequest
  resource: ResourceRow
  offer: Offer
  payment: Payment
  agentId: string
  holding(): Holding
  leaseMs: number
  clock: Clock
  log: Log
}

/** Claims a payment for a request; one that was presented before, for the same request only, and not while that is under way. */
export async function claimPayment(presenting: Presenting): Promise<Claim | 'used' | 'busy'> {
  const { platform, holding } = presenting
  const claim = newClaim(presenting)
  if (await insertClaim(platform, claim)) return claim
  const found = await findClaim(platform, { key: claim.key })
  // Its request has just ended, and freed it.
  if (found === undefined) return 'busy'
  if (found.binding !== claim.binding) return 'used'
  const taken = found.state === 'stuck' ? undefined : await takeClaim(platform, claim.key, holding())
  if (taken === undefined) return 'busy'
  if (taken.state !== 'served' && taken.uses < maxUses) return taken
  await updateClaim(platform, taken, { state: 'served', ...freed })
  return 'used'
}

/** Keeps a claim while its request is under way. */
export function renewClaim({ platform, holding, leaseMs, log }: Presenting, claim: Claim): NodeJS.Timeout {
  return setInterval(() => {
    updateClaim(platform, claim, { lease_expires_at: holding().expiresAt }).catch(error =>
      log.warn({ err: error }, 'the claim of a payment could not be renewed'),
    )
  }, leaseMs / 3)
}

function newClaim({ request, resource, offer, payment, agentId, holding, clock }: Presenting): Claim {
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

/**
 * Nothing of a request is signed with its payment: so the payment is bound to the first request that it comes with. Its
 * signature, too, since that is not verified again, while the payer and the nonce are public once it is settled.
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
