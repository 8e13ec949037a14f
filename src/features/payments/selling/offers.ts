import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '#platform/errors.ts'
import type { ClaimState } from './claim-state.ts'
import type { Presented } from './claims.ts'
import type { Facilitator } from './facilitator.ts'
import type { ResourceRow } from './resources.repository.ts'
import { encoded, type Offer, type Payment, paymentRequired } from './wire.ts'

const retryAfterSeconds = 5

interface Dependencies {
  facilitator: Facilitator | undefined
  /** Returns the address that the agent's buyers pay; undefined without one. */
  payToOf(agentId: string): Promise<string | undefined>
  baseUrl: string | undefined
}

/** Makes the terms of a request. They throw PAYMENT_REQUIRED while the agent has no address to be paid at. */
export function createOffers({ facilitator, payToOf, baseUrl }: Dependencies) {
  return async (request: FastifyRequest, agentId: string, resource: ResourceRow): Promise<Offer> => {
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
}

/** Returns the error of a request that is not paid for, and sets the headers of that response. */
export function refusalOf(reply: FastifyReply, { offer, payment }: Presented, state: ClaimState): AppError {
  const why = state.kind === 'refused' ? state.why : undefined
  if (why === undefined || why.reason === 'pending') return pending(reply)
  if (why.reason === 'used')
    return unpaid(reply, offer, 'This payment was used, or made for another request.')
  if (why.reason === 'invalid') return unpaid(reply, offer, `The payment is not good: ${why.problem}.`)
  const { network } = offer.terms
  showSettlement(reply, payment, { success: false, errorReason: why.problem, transaction: '', network })
  return unpaid(reply, offer, `The payment was refused: ${why.problem}.`)
}

export function unpaid(reply: FastifyReply, offer: Offer, message: string): AppError {
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

export function showSettlement(reply: FastifyReply, payment: Payment, answer: object): void {
  reply.header(payment.x402Version === 1 ? 'X-PAYMENT-RESPONSE' : 'PAYMENT-RESPONSE', encoded(answer))
}
