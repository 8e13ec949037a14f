import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '#platform/errors.ts'
import type { AnswerEnd, Gate } from '#platform/http/gate.ts'
import { unstorable } from '#platform/http/requests/storable-text.ts'
import type { AgentDatabases } from '#storage/agent-databases.ts'
import { type ClaimEvent, type ClaimState, countedEnd, free, heldClaim, next } from './claim-state.ts'
import type { Claims, Presented } from './claims.ts'
import type { Facilitator } from './facilitator.ts'
import { createOrder } from './in-order.ts'
import { createOffers, refusalOf, showSettlement, unpaid } from './offers.ts'
import { findByPath } from './resources.repository.ts'
import type { Receipt } from './resources.schema.ts'
import { claimedOf, type Settlements } from './settlements.ts'
import { claimKey, mismatchOf, payerOf, readPayment } from './wire.ts'

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
  const { agentDatabases } = dependencies
  const offerFor = createOffers(dependencies)
  const ending = new Set<Promise<void>>()

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

/** Maps the states of a payment's claim to responses. */
function createGate(
  { claims, settlements, facilitator }: Dependencies,
  reply: FastifyReply,
  sold: Presented,
) {
  const { request, offer, payment } = sold
  let state = free
  let renewal: NodeJS.Timeout | undefined
  // The client can leave at any time: a claim must not be released while it changes its state.
  const inOrder = createOrder()

  function enter(event: ClaimEvent): ClaimState {
    state = next(state, event)
    if (heldClaim(state) === undefined) clearInterval(renewal)
    return state
  }

  async function release(end: AnswerEnd): Promise<void> {
    const [claim, counted] = [heldClaim(state), countedEnd(state, end)]
    enter({ type: 'released' })
    if (claim !== undefined) await claims.release(claim, counted)
  }

  async function check(): Promise<void> {
    const taken = enter({ type: 'taken', claim: await claims.take(sold) })
    if (taken.kind !== 'held') throw refusalOf(reply, sold, taken)
    const { claim } = taken
    renewal = claims.keep(claim)
    if (claim.state !== 'claimed') return
    const problem = await facilitator?.verify(claimedOf(claim))
    if (problem === undefined) return
    // The payment can be presented again at once.
    await release('failed')
    throw refusalOf(reply, sold, enter({ type: 'invalid', problem }))
  }

  async function settle(): Promise<Receipt> {
    if (state.kind === 'held') {
      const settlement = await settlements.settle(request.agent, state.claim, 'request')
      const after = enter({ type: 'settled', settlement })
      if (after.kind === 'settled') showSettlement(reply, payment, { success: true, ...after.receipt })
    }
    if (state.kind === 'settled') return state.receipt
    throw refusalOf(reply, sold, state)
  }

  return {
    caller: payerOf(payment, offer.terms),
    key: claimKey(payment, offer.terms),
    check: () => inOrder(check),
    before: () => inOrder(settle),
    release: (end: AnswerEnd) => inOrder(() => release(end)),
  }
}

function noAgent(error: unknown): undefined {
  if (error instanceof AppError && error.code === 'NOT_FOUND') return undefined
  throw error
}
