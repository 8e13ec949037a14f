import { Type } from 'typebox'
import { matches } from '#platform/schema-check.ts'
import type { PaymentChange, PaymentReport } from '../ledger/merge-transaction.ts'
import { fromUnits, providerDecimals } from '../money.ts'
import { agentField, keysOf, transactionField } from './provider-calls.ts'

/** Only the fields in use; fields that an API version omits must not stop the others. */
const eventSchema = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 300 }),
  type: Type.String(),
  created: Type.Optional(Type.Integer()),
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
  status: text,
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
  status: text,
  billing_details: person,
  metadata,
})

/** The common fields of refunds and disputes. */
const partOfCharge = {
  id: Type.String(),
  charge: text,
  payment_intent: text,
  amount: Type.Integer({ minimum: 0 }),
  currency: Type.String(),
}

const refundSchema = Type.Object({
  ...partOfCharge,
  status: text,
  created: Type.Optional(Type.Integer()),
})

const disputeSchema = Type.Object({ ...partOfCharge, status: Type.String() })

const authorizationSchema = Type.Object({
  pending_request: Type.Object({ amount: Type.Integer(), currency: Type.String() }),
})

export interface ProviderEvent {
  id: string
  type: string
  /** Seconds since the epoch; 0 if missing. */
  at: number
  object: object
}

/** Returns undefined for anything but an event. */
export function readEvent(body: Buffer): ProviderEvent | undefined {
  try {
    const event: unknown = JSON.parse(body.toString('utf8'))
    if (!matches(eventSchema, event)) return undefined
    return { id: event.id, type: event.type, at: event.created ?? 0, object: event.data.object }
  } catch {
    return undefined
  }
}

/** An event's meaning for the ledger: a payment, or a change of one. */
export type Meaning =
  | { report: PaymentReport }
  | { change: PaymentChange; session?: 'expired' }
  | { problem: string }

/** Returns undefined for an event without meaning for the ledger, or about another agent's payment. */
export function meaningOf({ type, at, object }: ProviderEvent, agentId: string): Meaning | undefined {
  if (matches(madeSchema, object) && object.metadata[agentField] !== agentId) return undefined
  const read = readers.find(([pattern]) => pattern.test(type))?.[1]
  return read?.(object, { at, isChange: type === 'charge.updated' })
}

interface Moment {
  at: number
  isChange: boolean
}

const readers: [RegExp, (object: object, moment: Moment) => Meaning | undefined][] = [
  [/^checkout\.session\.(?:completed|async_payment_succeeded)$/, paidBySession],
  [/^checkout\.session\.(?:expired|async_payment_failed)$/, failedSession],
  [/^charge\.(?:succeeded|captured|refunded|updated)$/, paidByCharge],
  [/^(?:refund\.|charge\.refund\.)/, refundedBy],
  [/^charge\.dispute\./, disputedBy],
]

function paidBySession(session: object): Meaning | undefined {
  if (!matches(sessionSchema, session) || session.payment_status !== 'paid') return undefined
  const { id, mode, payment_intent, amount_total, currency, customer_details } = session
  // A subscription's payment has no intent here: its charge reports it.
  const key = payment_intent ?? (mode === 'payment' ? id : undefined)
  if (key === undefined || !amount_total || !currency) return undefined
  const amount = fromUnits(amount_total, providerDecimals(currency))
  return {
    report: { ...income(session.metadata, key, customer_details?.email), keys: [key], amount, currency },
  }
}

/** The session has expired without a payment, or the payment has bounced. */
function failedSession(session: object): Meaning | undefined {
  if (!matches(sessionSchema, session)) return undefined
  const transactionId = session.metadata?.[transactionField] ?? undefined
  const keys = session.payment_intent ? [session.payment_intent] : []
  const change = { keys, transactionId, state: 'failed' } as const
  return session.status === 'expired' ? { change, session: 'expired' } : { change }
}

function paidByCharge(charge: object, moment: Moment): Meaning | undefined {
  if (!matches(chargeSchema, charge) || charge.captured === false) return undefined
  const { amount, amount_captured, amount_refunded, currency, billing_details, status } = charge
  if ((status ?? 'succeeded') !== 'succeeded') return undefined
  const keys = keysOf({ id: charge.id, payment_intent: charge.payment_intent ?? null })
  const decimals = providerDecimals(currency)
  const paid = amount_captured ?? amount
  if (paid === 0) return undefined
  const refunded = amount_refunded ?? 0
  if (refunded > paid) return { problem: `${refunded} of ${paid} refunded` }
  const total = { ...moment, amount: fromUnits(refunded, decimals) }
  return {
    report: {
      ...income(charge.metadata, keys[0] ?? charge.id, billing_details?.email),
      keys,
      amount: fromUnits(paid, decimals),
      currency,
      reversals: { total },
    },
  }
}

function refundedBy(refund: object, { at }: Moment): Meaning | undefined {
  if (!matches(refundSchema, refund)) return undefined
  const { id, status, created = at } = refund
  const hasFailed = status === 'failed' || status === 'canceled'
  if (!hasFailed && status !== 'succeeded' && status !== 'pending') return undefined
  const made = { at: created, amount: amountOf(refund), ...(hasFailed && { failedAt: at }) }
  return { change: { keys: keysIn(refund), reversals: { refunds: { [id]: made } } } }
}

/** An inquiry (`warning_…`) returns no money. */
function disputedBy(dispute: object, { at }: Moment): Meaning | undefined {
  if (!matches(disputeSchema, dispute) || /^warning_(?:needs|under)/.test(dispute.status)) return undefined
  const { id, status } = dispute
  const state =
    status === 'lost' ? 'lost' : /^(?:won|warning_closed|prevented)$/.test(status) ? 'won' : 'open'
  const disputes = { [id]: { at, amount: amountOf(dispute), state } as const }
  return { change: { keys: keysIn(dispute), reversals: { disputes } } }
}

function amountOf({ amount, currency }: { amount: number; currency: string }): string {
  return fromUnits(amount, providerDecimals(currency))
}

function keysIn({
  charge,
  payment_intent,
}: {
  charge?: string | null
  payment_intent?: string | null
}): string[] {
  return [payment_intent, charge].filter(key => typeof key === 'string')
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

/** Returns true to approve a purchase by card; undefined for an event without such a request. */
export function approves(
  { type, object }: ProviderEvent,
  approval: Approval | undefined,
): boolean | undefined {
  if (type !== 'issuing_authorization.request') return undefined
  if (!matches(authorizationSchema, object) || approval === undefined) return false
  const { mode, max_amount = 0 } = approval
  return mode === 'approve' || (mode === 'limit' && object.pending_request.amount <= max_amount)
}
