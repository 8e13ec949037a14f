import { type Static, Type } from 'typebox'
import { orNull } from '#platform/own-schemas.ts'

const amount = Type.Integer({
  minimum: 1,
  maximum: 999_999_999_999,
  description: "Amount in the currency's smallest unit, such as cents.",
  examples: [1999],
})
const currency = Type.String({
  pattern: '^[A-Za-z]{3}$',
  description: 'ISO 4217 currency code.',
  examples: ['usd'],
})
const description = Type.String({
  minLength: 1,
  maxLength: 500,
  pattern: '\\S',
  examples: ['One hour of advice'],
})
const address = Type.String({
  maxLength: 2000,
  pattern: '^https?://',
  description: 'An http or https address.',
  examples: ['https://example.com/paid'],
})

export const checkoutSchema = Type.Object({
  amount,
  currency,
  description,
  success_url: address,
  cancel_url: address,
})
export const checkoutSessionSchema = Type.Object(
  { session_id: Type.String(), url: orNull(Type.String()), status: orNull(Type.String()) },
  { title: 'CheckoutSession' },
)

const providerId = Type.String({
  pattern: '^[A-Za-z]\\w{2,200}$',
  description: "The provider's id of the card, never a card number.",
})

export const chargeSchema = Type.Object({
  card_id: Type.String({ ...providerId, examples: ['card_1PgaftB7WZ01zgkWm3waTcFp'] }),
  amount,
  currency,
  description,
})
export const chargedSchema = Type.Object(
  {
    charge_id: Type.String(),
    amount: Type.Integer(),
    currency: Type.String(),
    status: Type.String(),
    transaction_id: Type.String(),
  },
  { title: 'Charge' },
)

export const refundSchema = Type.Object(
  {
    charge_id: Type.Optional(providerId),
    transaction_id: Type.Optional(Type.String()),
    amount: Type.Optional({ ...amount, description: 'Amount to refund. Default: the whole payment.' }),
  },
  { minProperties: 1, examples: [{ charge_id: 'ch_1PgafuB7WZ01zgkWXYmPNZs8' }] },
)
export const refundedSchema = Type.Object(
  {
    refund_id: Type.String(),
    amount: Type.Integer(),
    currency: Type.String(),
    status: orNull(Type.String()),
    transaction_id: orNull(Type.String()),
  },
  { title: 'Refund' },
)

export const cardSchema = Type.Object(
  {
    id: Type.String(),
    last4: Type.String(),
    brand: Type.String(),
    status: Type.String(),
    spending_limit: orNull(Type.Integer({ description: 'The smallest limit; null if there is none.' })),
    created_at: Type.String({ format: 'date-time' }),
  },
  { title: 'IssuingCard' },
)
export type Card = Static<typeof cardSchema>
export const webhookAnswerSchema = Type.Object({
  received: Type.Optional(Type.Boolean()),
  approved: Type.Optional(Type.Boolean()),
})
export type WebhookAnswer = Static<typeof webhookAnswerSchema>

/** Requests to the provider and their results, by kind. */
export interface Exchanges {
  checkout: { body: Static<typeof checkoutSchema>; answer: Static<typeof checkoutSessionSchema> }
  charge: { body: Static<typeof chargeSchema>; answer: Static<typeof chargedSchema> }
  refund: { body: Static<typeof refundSchema>; answer: Static<typeof refundedSchema> }
}
export type Kind = keyof Exchanges
