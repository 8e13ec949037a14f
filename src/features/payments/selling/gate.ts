import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '#platform/errors.ts'
import type { AnswerEnd, Gate } from '#platform/http/gate.ts'
import { unstorable } from '#platform/http/requests/storable-text.ts'
import type { AgentDatabases } from '#storage/agent-databases.ts'
import type { Claim } from './claims.repository.ts'
import type { Claims, Presented } from './claims.ts'
import type { Facilitator } from './facilitator.ts'
import type { ResourceRow } from './resources.repository.ts'
import { findByPath } from './resources.repository.ts'
import type { Receipt } from './resources.schema.ts'
import type { Settlements } from './settlements.ts'
import { claimedOf } from './settlements.ts'
import type { Offer, Payment } from './wire.ts'
import { claimKey, encoded, mismatchOf, payerOf, paymentRequired, readPayment } from './wire.ts'

const retryAfterSeconds = 5

interface Dependencies {
  agentDatabases: AgentDatabases
  facilitator: Facilitator | undefined
  claims: Claims
  settlements: Settlements
  /** Returns the address that the agent's buyers pay; undefined without one. */
  payToOf(agentId: string): Promise<string | undefined>
  baseUrl: string | undefined
}

/** Sells calls to callers without a role: each response waits at a gate for a claimed payment. */
export function createGates(dependencies: Dependencies) {
  const { agentDatabases, facilitator, payToOf, baseUrl } = dependencies
  const ending = new Set<Promise<void>>()

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
    /** Returns the gate of a request; undefined if it is not for sale. Throws PAYMENT_REQUIRED if unpaid. */
    async gateOf(request: FastifyRequest, reply: FastifyReply): Promise<Gate | undefined> {
      const { id: agentId, '*': rest } = request.params as { id: string; '*'?: string }
      const { soldAs } = request.routeOptions.config
      const path = soldAs === '*' ? `/${rest}` : (soldAs ?? '')
      // The request was not validated yet.
      if ([agentId, path].some(text => unstorable(text) !== undefined)) return undefined
      const resource = await agentDatabases.use(agentId, ({ db }) => findByPath(db, path)).catch(noAgent)
      if (resource === undefined) return undefined
      const offer = await offerFor(request, agentId, resource)
      const { 'payment-signature': current, 'x-payment': former } = request.headers
      // A HEAD request only checks the response, and does not buy it.
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
      const gate = createGate(dependencies, reply, { agentId, request, resource, offer, payment })
      return {
        ...gate,
        after(end) {
          const ended = gate.release(end).finally(() => ending.delete(ended))
          ending.add(ended)
        },
      }
    },

    /** Resolves once all claims are released. */
    stop: async () => void (await Promise.all(ending)),
  }
}

/** A claim that this request holds. */
interface Held {
  claim: Claim
  renewal: NodeJS.Timeout
}

/** Maps the states of a payment's claim to responses. */
function createGate(
  { claims, settlements, facilitator }: Dependencies,
  reply: FastifyReply,
  sold: Presented,
) {
  const { request, offer, payment } = sold
  let held: Held | undefined
  /** Set after settlement. */
  let receipt: Receipt | undefined
  let steps: Promise<unknown> = Promise.resolve()

  /** The client can leave at any time: a claim must not be released while it changes its state. */
  function inOrder<Result>(step: () => Promise<Result>): Promise<Result> {
    const done = steps.then(step)
    steps = done.catch(() => {})
    return done
  }

  function letGo(): Claim | undefined {
    const claim = held?.claim
    clearInterval(held?.renewal)
    held = undefined
    return claim
  }

  async function release(end: AnswerEnd): Promise<void> {
    const claim = letGo()
    // A request that has not passed was not counted.
    const counted = end === 'unfinished' && receipt === undefined ? 'failed' : end
    if (claim !== undefined) await claims.release(claim, counted)
  }

  async function check(): Promise<void> {
    const claim = await claims.take(sold)
    if (claim === 'used') throw unpaid(reply, offer, 'This payment was used, or made for another request.')
    if (claim === 'busy') throw pending(reply)
    held = { claim, renewal: claims.keep(claim) }
    if (claim.state !== 'claimed') return
    const problem = await facilitator?.verify(claimedOf(claim))
    if (problem === undefined) return
    // The payment can be presented again at once.
    await release('failed')
    throw unpaid(reply, offer, `The payment is not good: ${problem}.`)
  }

  async function settle(): Promise<Receipt> {
    if (receipt !== undefined) return receipt
    if (held === undefined) throw pending(reply)
    const settlement = await settlements.settle(request.agent, held.claim, 'request')
    if (settlement.outcome === 'settled') {
      held.claim = settlement.claim
      receipt = settlement.receipt
      showSettlement(reply, payment, { success: true, ...receipt })
      return receipt
    }
    letGo()
    if (settlement.outcome === 'unknown') throw pending(reply)
    const { reason: errorReason } = settlement
    const { network } = offer.terms
    showSettlement(reply, payment, { success: false, errorReason, transaction: '', network })
    throw unpaid(reply, offer, `The payment was refused: ${errorReason}.`)
  }

  return {
    caller: payerOf(payment, offer.terms),
    key: claimKey(payment, offer.terms),
    check: () => inOrder(check),
    before: () => inOrder(settle),
    release: (end: AnswerEnd) => inOrder(() => release(end)),
  }
}

function unpaid(reply: FastifyReply, offer: Offer, message: string): AppError {
  const { header, body } = paymentRequired(offer, message)
  reply.header('PAYMENT-REQUIRED', header)
  return new AppError('PAYMENT_REQUIRED', message, { details: body })
}

/** A payer must not pay again while the outcome of their payment is unknown. */
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
