import { type Static, Type } from 'typebox'
import { orNull } from '#platform/own-schemas.ts'

/** Harmless types of texts, without multipart forms, which could contain their own headers. */
const contentType =
  '^(?:application|image|model|text)/[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,99}(?: ?; ?[A-Za-z0-9_-]{1,40}=(?:[A-Za-z0-9!#$&^_.+-]{1,99}|"[A-Za-z0-9 /:,;=_.+-]{0,200}"))*$'

const deliverySchema = Type.Object(
  {
    workflow_id: Type.Optional(
      Type.String({ maxLength: 100, description: 'An active workflow; its output is the answer, as JSON.' }),
    ),
    body: Type.Optional(
      Type.String({ minLength: 1, maxLength: 1_000_000, description: 'A text, which is sent as UTF-8.' }),
    ),
    content_type: Type.Optional(
      Type.String({
        maxLength: 500,
        pattern: contentType,
        description: 'The media type of the body, such as text/csv.',
        examples: ['text/csv'],
      }),
    ),
  },
  {
    description: 'For a path of its own, instead of a receipt: `{workflow_id}` or `{body, content_type}`.',
    examples: [{ body: 'date,price\n', content_type: 'text/csv' }],
  },
)
export type Delivery = { workflow_id: string } | { body: string; content_type: string }

/*
 * Resource: a call of the agent, or its own path below `/x402`, for which callers without a role pay by x402.
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
  deliver: Type.Optional(deliverySchema),
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

const soldSchema = Type.Object(
  {
    path: Type.String(),
    description: Type.String(),
    receipt: orNull(
      Type.Object(receiptSchema.properties, { description: 'Null if the caller does not have to pay.' }),
    ),
  },
  { title: 'SoldResource' },
)

/** Response schemas by media type. */
export const deliveredSchema = {
  'application/json': { schema: Type.Unsafe<unknown>(Type.Union([soldSchema, Type.Unknown()])) },
  '*/*': { schema: Type.Unsafe<unknown>(Type.String()) },
}

export const runningSchema = Type.Object(
  { execution_id: Type.String(), status: Type.Literal('running') },
  { title: 'SoldRun' },
)
