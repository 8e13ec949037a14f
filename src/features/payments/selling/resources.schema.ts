import type { Static } from 'typebox'
import { Type } from 'typebox'
import { orNull } from '#platform/own-schemas.ts'

/*
 * Resource: a call of the agent, or a path of its own below `/x402`, that callers without a role pay for by x402.
 */
export const newResourceSchema = Type.Object({
  path: Type.String({
    pattern: '^/[A-Za-z0-9._~-]+(/[A-Za-z0-9._~-]+)*$',
    maxLength: 200,
    description: '`/chat` (which includes regenerate), `/sources/search`, or a new path.',
    examples: ['/chat'],
  }),
  price: Type.String({
    pattern: '^\\d{1,12}(\\.\\d{1,18})?$',
    description: 'A decimal number with at most as many decimals as the currency has.',
    examples: ['0.10'],
  }),
  currency: Type.String({
    minLength: 1,
    maxLength: 20,
    description: 'The dollar coin of the network, such as USDC. USD stands for that coin.',
    examples: ['USDC'],
  }),
  network: Type.String({
    minLength: 1,
    maxLength: 50,
    description: 'The network, such as base or eip155:8453.',
    examples: ['base'],
  }),
  description: Type.String({ maxLength: 500, examples: ['An answer of the agent'] }),
})
export type NewResource = Static<typeof newResourceSchema>

export const resourceSchema = Type.Object(
  {
    id: Type.String(),
    ...newResourceSchema.properties,
    created_at: Type.String({ format: 'date-time' }),
  },
  { title: 'X402Resource' },
)
export type Resource = Static<typeof resourceSchema>

export const receiptSchema = Type.Object({
  transaction_id: Type.String({ description: "Id of the transaction in the agent's ledger." }),
  transaction: Type.String({ description: 'Id of the transaction on the network.' }),
  network: Type.String(),
  payer: Type.String(),
})
export type Receipt = Static<typeof receiptSchema>

export const soldSchema = Type.Object(
  {
    path: Type.String(),
    description: Type.String(),
    receipt: orNull(
      Type.Object(receiptSchema.properties, { description: 'Null if the caller does not have to pay.' }),
    ),
  },
  { title: 'SoldResource' },
)
