import type Stripe from 'stripe'
import type { TransactionState } from '../ledger/ledger.schema.ts'
import type { PaymentReport } from '../ledger/merge-transaction.ts'
import { fromUnits, providerDecimals } from '../money.ts'
import type { Card, Exchanges } from './provider.schema.ts'

/** The arguments of every call besides its body. */
export interface CallContext {
  idempotencyKey: string
  agentId: string
  /** The id in the ledger; the provider repeats it in its events. */
  transactionId: string | null
  /** The provider's keys of that transaction's payment. */
  paymentKeys: readonly string[]
}

export interface Performed<Answer> {
  answer: Answer
  /** The report for the ledger. */
  report?: Pick<PaymentReport, 'keys' | 'state'> & Partial<PaymentReport>
}

type Calls = {
  [Kind in keyof Exchanges]: (
    client: Stripe,
    body: Exchanges[Kind]['body'],
    context: CallContext,
  ) => Promise<Performed<Exchanges[Kind]['answer']>>
}

/** The metadata field of the transaction's id in objects created at the provider. */
export const transactionField = 'transaction_id'
/** The metadata field of the agent's id: the events of an account go to all agents that use it. */
export const agentField = 'agent_id'

export const providerCalls: Calls = {
  async checkout(client, { amount, currency, description, success_url, cancel_url }, context) {
    const metadata = metadataOf(context)
    const item = {
      currency: currency.toLowerCase(),
      unit_amount: amount,
      product_data: { name: description },
    }
    const { id, url, status } = await client.checkout.sessions.create(
      {
        mode: 'payment',
        line_items: [{ quantity: 1, price_data: item }],
        success_url,
        cancel_url,
        metadata,
        // The provider does not copy the session's metadata.
        payment_intent_data: { metadata },
      },
      context,
    )
    return { answer: { session_id: id, url, status } }
  },

  async charge(client, { card_id, amount, currency, description }, context) {
    const charge = await client.charges.create(
      {
        amount,
        currency: currency.toLowerCase(),
        source: card_id,
        description,
        metadata: metadataOf(context),
      },
      context,
    )
    const answer = {
      charge_id: charge.id,
      amount: charge.amount,
      currency: charge.currency,
      status: charge.status,
      transaction_id: context.transactionId ?? '',
    }
    return { answer, report: { keys: keysOf(charge), state: states.get(charge.status) ?? 'pending' } }
  },

  async refund(client, { charge_id, amount }, context) {
    const key = charge_id ?? refundableKey(context.paymentKeys) ?? ''
    const paid = key.startsWith('pi_') ? { payment_intent: key } : { charge: key }
    const refund = await client.refunds.create(
      {
        ...paid,
        ...(amount === undefined ? {} : { amount }),
        metadata: metadataOf(context),
        expand: ['charge'],
      },
      context,
    )
    const answer = {
      refund_id: refund.id,
      amount: refund.amount,
      currency: refund.currency,
      status: refund.status,
      transaction_id: context.transactionId,
    }
    // Only the charge contains the total refund; without a charge, the event does.
    if (typeof refund.charge !== 'object' || refund.charge === null) return { answer }
    const { currency, amount_refunded } = refund.charge
    const refunded = fromUnits(amount_refunded, providerDecimals(currency))
    const total = { at: refund.created ?? 0, amount: refunded }
    return { answer, report: { keys: keysOf(refund.charge), state: 'settled', reversals: { total } } }
  },
}

const states = new Map<string, TransactionState>([
  ['succeeded', 'settled'],
  ['failed', 'failed'],
])

/** Lists all cards that the account has issued, up to a thousand. */
export async function listCards(client: Stripe): Promise<Card[]> {
  const cards = await client.issuing.cards.list({ limit: 100 }).autoPagingToArray({ limit: 1000 })
  return cards.map(({ id, last4, brand, status, spending_controls, created }) => {
    const limits = (spending_controls.spending_limits ?? []).map(({ amount }) => amount)
    const spending_limit = limits.length === 0 ? null : Math.min(...limits) || null
    return { id, last4, brand, status, spending_limit, created_at: new Date(created * 1000).toISOString() }
  })
}

/** Returns the provider's keys of a charge's payment: its intent, which a session shares, and the charge. */
export function keysOf({ id, payment_intent }: Pick<Stripe.Charge, 'id' | 'payment_intent'>): string[] {
  const intent = typeof payment_intent === 'string' ? payment_intent : payment_intent?.id
  return [...(intent === undefined ? [] : [intent]), id]
}

/** Returns the key that a payment can be refunded by. */
export function refundableKey(keys: readonly string[]): string | undefined {
  return keys.find(key => /^(?:ch|py|pi)_/.test(key))
}

function metadataOf({ agentId, transactionId }: CallContext): Record<string, string> {
  return transactionId === null ? {} : { [transactionField]: transactionId, [agentField]: agentId }
}
