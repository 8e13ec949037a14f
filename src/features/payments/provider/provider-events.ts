import { Type } from 'typebox'
import { matches } from '#platform/schema-check.ts'
import type { PaymentReport } from '../ledger/merge-transaction.ts'
import { fromUnits, providerDecimals } from '../money.ts'
import { agentField, keysOf, transactionField } from './provider-calls.ts'

/** Only what is read of events; what a version of the provider's API leaves out must not stop the rest. */
const eventSchema = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 300 }),
  type: Type.String(),
  data: Type.Object({ object: Type.Object({}) }),
})

const text = Type.Optional(Type.Union([Type.String(), Type.Null()]))
const count = Type.Optional(Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]))
const metadata = Type.Optional(
  Type.Union([Type.Object({ [transactionField]: text, [agentField]: text }), Type.Null()]),
)
const madeSchema = Type.Object({ metadata: Type.Object({ [agentField]: Type.String() }) })
const person = Type.Optional(Type.Union([Type.Object({ email: text }), Type.Null()]))

const sessionSchema = Type.Object({
  id: Type.String(),
  mode: text,
  payment_status: text,
  payment_intent: text,
  amount_total: count,
  currency: text,
  customer_details: person,
  metadata,
})

const chargeSchema = Type.Object({
  id: Type.String(),
  payment_intent: text,
  amount: Type.Integer({ minimum: 0 }),
  amount_captured: count,
  amount_refunded: count,
  currency: Type.String(),
  captured: Type.Optional(Type.Boolean()),
  billing_details: person,
  metadata,
})

const authorizationSchema = Type.Object({
  pending_request: Type.Object({ amount: Type.Integer(), currency: Type.String() }),
})

export interface ProviderEvent {
  id: string
  type: string
  object: object
}

/** Undefined for what is no event. */
export function readEvent(body: Buffer): ProviderEvent | undefined {
  try {
    const event: unknown = JSON.parse(body.toString('utf8'))
    if (!matches(eventSchema, event)) return undefined
    return { id: event.id, type: event.type, object: event.data.object }
  } catch {
    return undefined
  }
}

/** The payment that an event reports; undefined if it reports none, or one that another agent requested. */
export function paymentIn({ type, object }: ProviderEvent, agentId: string): PaymentReport | undefined {
  if (matches(madeSchema, object) && object.metadata[agentField] !== agentId) return undefined
  if (type === 'checkout.session.completed') return paidBySession(object)
  return type === 'charge.succeeded' || type === 'charge.refunded' ? paidByCharge(object) : undefined
}

function paidBySession(session: object): PaymentReport | undefined {
  if (!matches(sessionSchema, session) || session.payment_status !== 'paid') return undefined
  const { id, mode, payment_intent, amount_total, currency, customer_details } = session
  // A subscription's payment has no intent here: its charge reports it.
  const key = payment_intent ?? (mode === 'payment' ? id : undefined)
  if (key === undefined || !amount_total || !currency) return undefined
  return {
    ...income(session.metadata, key, customer_details?.email),
    keys: [key],
    amount: fromUnits(amount_total, providerDecimals(currency)),
    currency,
  }
}

function paidByCharge(charge: object): PaymentReport | undefined {
  if (!matches(chargeSchema, charge) || charge.captured === false) return undefined
  const { amount, amount_captured, amount_refunded, currency, billing_details } = charge
  const keys = keysOf({ id: charge.id, payment_intent: charge.payment_intent ?? null })
  const decimals = providerDecimals(currency)
  return {
    ...income(charge.metadata, keys[0] ?? charge.id, billing_details?.email),
    keys,
    amount: fromUnits(amount_captured ?? amount, decimals),
    currency,
    refunded: fromUnits(amount_refunded ?? 0, decimals),
  }
}

function income(
  metadata: { [transactionField]?: string | null } | null | undefined,
  reference: string,
  from: string | null | undefined,
) {
  const transactionId = metadata?.[transactionField] ?? undefined
  return {
    transactionId,
    type: 'inbound',
    source: 'provider',
    state: 'settled',
    reference,
    from: from ?? null,
  } as const
}

/** The setting `issuing_approval`. */
export interface Approval {
  mode: string
  max_amount?: number
}

/** Whether a purchase by card is approved; undefined if the event is no request for an approval. */
export function approves(
  { type, object }: ProviderEvent,
  approval: Approval | undefined,
): boolean | undefined {
  if (type !== 'issuing_authorization.request') return undefined
  if (!matches(authorizationSchema, object) || approval === undefined) return false
  const { mode, max_amount = 0 } = approval
  return mode === 'approve' || (mode === 'limit' && object.pending_request.amount <= max_amount)
}
