import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import type { Purchase } from '#features/access/access.feature.ts'
import type { Clock } from '#platform/clock.ts'
import { AppError } from '#platform/errors.ts'
import { whenClosed } from '#platform/http/closing.ts'
import { unstorable } from '#platform/http/requests/storable-text.ts'
import type { Log } from '#platform/logging/log.ts'
import type { AgentDatabases } from '#storage/agent-databases.ts'
import type { PlatformTables } from '#storage/tables.ts'
import { claimPayment, maxUses, renewClaim } from './claim-payment.ts'
import type { Claim, Holding } from './claims.repository.ts'
import { deleteClaim, freed, updateClaim } from './claims.repository.ts'
import type { Facilitator } from './facilitator.ts'
import type { ResourceRow } from './resources.repository.ts'
import { findByPath } from './resources.repository.ts'
import type { Settlements } from './settlements.ts'
import { claimedOf } from './settlements.ts'
import type { Offer, Payment } from './wire.ts'
import { encoded, mismatchOf, payerOf, paymentRequired, readPayment } from './wire.ts'

const retryAfterSeconds = 5
/** Of a payment that a person has said is settled. */
const seenByPerson = { transaction: '', payer: '' }

interface Dependencies {
  platform: Kysely<PlatformTables>
  agentDatabases: AgentDatabases
  facilitator: Facilitator | undefined
  settlements: Settlements
  /** Whom the agent's buyers pay; undefined if nobody can be paid. */
  payToOf(agentId: string): Promise<string | undefined>
  baseUrl: string | undefined
  holding(): Holding
  leaseMs: number
  clock: Clock
  log: Log
}

/** Sells calls to callers without a role on the agent. */
export function createGate(needs: Dependencies) {
  const { agentDatabases, facilitator, payToOf, baseUrl } = needs
  const finishing = new Set<Promise<unknown>>()

  async function offerFor(request: FastifyRequest, agentId: string, resource: ResourceRow): Promise<Offer> {
    const payTo = facilitator && (await payToOf(agentId))
    if (payTo === undefined)
      throw new AppError(
        'PAYMENT_REQUIRED',
        'This has to be paid for, and the operator has not set yet how: X402_FACILITATOR_URL, and X402_PAY_TO or x402_pay_to.',
        { details: { x402Version: 1, accepts: [] } },
      )
    const url = `${baseUrl ?? `${request.protocol}://${request.host}`}${request.originalUrl}`
    return { terms: { ...JSON.parse(resource.terms), payTo }, url, description: resource.description }
  }

  return {
    /** The purchase that a request is; undefined if the call is not for sale. Throws PAYMENT_REQUIRED for one without payment. */
    async sell(request: FastifyRequest, reply: FastifyReply): Promise<Purchase | undefined> {
      const { id: agentId, '*': rest } = request.params as { id: string; '*'?: string }
      const { soldAs } = request.routeOptions.config
      const path = soldAs === '*' ? `/${rest}` : (soldAs ?? '')
      // The request was not validated yet.
      if ([agentId, path].some(text => unstorable(text) !== undefined)) return undefined
      const resource = await agentDatabases.use(agentId, ({ db }) => findByPath(db, path)).catch(noAgent)
      if (resource === undefined) return undefined
      const offer = await offerFor(request, agentId, resource)
      const { 'payment-signature': current, 'x-payment': former } = request.headers
      // To ask what a call would answer is not to buy it.
      const header = request.method === 'HEAD' ? undefined : (current ?? former)
      if (header === undefined) throw unpaid(reply, offer, 'This has to be paid for.')
      const payment = readPayment(String(header))
      if (payment === undefined)
        throw new AppError(
          'VALIDATION_ERROR',
          'The payment can not be read: send what an x402 client makes of the offer.',
        )
      const mismatch = mismatchOf(payment, offer)
      if (mismatch !== undefined) throw unpaid(reply, offer, mismatch)
      const purchase = createPurchase({ ...needs, request, reply, resource, offer, payment, agentId })
      whenClosed(reply, isSent => {
        const finished = purchase.finish(isSent).finally(() => finishing.delete(finished))
        finishing.add(finished)
      })
      return purchase
    },

    /** Resolves once it is written down what came of all purchases. */
    stop: async () => void (await Promise.all(finishing)),
  }
}

interface PurchaseDependencies extends Dependencies {
  request: FastifyRequest
  reply: FastifyReply
  resource: ResourceRow
  offer: Offer
  payment: Payment
  agentId: string
}

/** One request with its payment: claimed and verified, then settled, then answered. */
function createPurchase(needs: PurchaseDependencies) {
  const { platform, facilitator, settlements, request, reply, offer, payment, log } = needs
  let claim: Claim | undefined
  let hasFailed = false
  let renewal: NodeJS.Timeout | undefined

  async function settled(held: Claim): Promise<Claim> {
    if (held.state === 'settled') {
      // Whoever had it settled may have died before that was recorded.
      const again = await settlements.complete(request.agent, held, claimedOf(held).receipt ?? seenByPerson)
      if (again === undefined) throw pending(reply)
      return again
    }
    const settlement = await settlements.settle(request.agent, held)
    if (settlement.outcome === 'settled') return settlement.claim
    claim = undefined
    if (settlement.outcome === 'unknown') {
      await updateClaim(platform, settlement.claim, freed)
      throw pending(reply)
    }
    const answer = {
      success: false,
      errorReason: settlement.reason,
      transaction: '',
      network: offer.terms.network,
    }
    showSettlement(reply, payment, answer)
    throw unpaid(reply, offer, `The payment was refused: ${settlement.reason}.`)
  }

  return {
    payer: payerOf(payment, offer.terms),

    async verify(): Promise<void> {
      const held = await claimPayment(needs)
      if (held === 'used') throw unpaid(reply, offer, 'This payment was used, or made for another request.')
      if (held === 'busy') throw pending(reply)
      claim = held
      renewal = renewClaim(needs, held)
      if (claim.state !== 'claimed') return
      const problem = await facilitator?.verify(claimedOf(claim))
      if (problem === undefined) return
      // It may be presented again at once, and is then no longer the claim of this request.
      claim = undefined
      await deleteClaim(platform, held)
      throw unpaid(reply, offer, `The payment is not good: ${problem}.`)
    },

    async settle() {
      if (claim === undefined) throw pending(reply)
      claim = await settled(claim)
      const { receipt } = claimedOf(claim)
      showSettlement(reply, payment, { success: true, ...receipt })
      return receipt
    },

    failed(): void {
      hasFailed = true
    },

    /** Writes down what came of it, after the answer. */
    async finish(isSent: boolean): Promise<void> {
      clearInterval(renewal)
      if (claim === undefined) return
      const isServed = isSent && reply.statusCode < 400 && !hasFailed
      const isOver = claim.state === 'settled' && (isServed || claim.uses >= maxUses)
      try {
        if (claim.state === 'claimed') await deleteClaim(platform, claim)
        else await updateClaim(platform, claim, { ...freed, ...(isOver ? { state: 'served' } : {}) })
      } catch (error) {
        // The lease ends by itself.
        log.warn({ err: error }, 'what came of a payment could not be written down')
      }
    },
  }
}

function unpaid(reply: FastifyReply, offer: Offer, message: string): AppError {
  const { header, body } = paymentRequired(offer, message)
  reply.header('PAYMENT-REQUIRED', header)
  return new AppError('PAYMENT_REQUIRED', message, { details: body })
}

/** Whoever paid must not be made to pay again while nobody knows what came of it. */
function pending(reply: FastifyReply): AppError {
  reply.header('Retry-After', retryAfterSeconds)
  return new AppError(
    'PAYMENT_PENDING',
    'What came of this payment is not known yet. Send the same request with the same payment again; do not pay anew.',
  )
}

function showSettlement(reply: FastifyReply, payment: Payment, answer: object): void {
  reply.header(payment.x402Version === 1 ? 'X-PAYMENT-RESPONSE' : 'PAYMENT-RESPONSE', encoded(answer))
}

function noAgent(error: unknown): undefined {
  if (error instanceof AppError && error.code === 'NOT_FOUND') return undefined
  throw error
}
