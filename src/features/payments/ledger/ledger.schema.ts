import { type Static, Type } from 'typebox'
import { listMetaSchema, listParameters } from '#platform/http/lists/list-query.ts'
import { orNull } from '#platform/own-schemas.ts'

/*
 * Transaction: one payment, reported by any number of messages. Its state is the furthest reported one:
 * pending -> failed -> settled -> disputed -> refunded, or settled after a won dispute or a failed refund.
 * Only moved money is settled.
 */
export const transactionTypes = ['inbound', 'outbound', 'x402'] as const
export type TransactionType = (typeof transactionTypes)[number]
export const transactionStates = ['pending', 'failed', 'settled', 'disputed', 'refunded'] as const
export type TransactionState = (typeof transactionStates)[number]
export type TransactionSource = 'provider' | 'x402' | 'notification'

const text = orNull(Type.String())
const amount = Type.String({ description: 'A decimal number, such as 12.50.' })

export const transactionSchema = Type.Object(
  {
    id: Type.String(),
    type: Type.Enum([...transactionTypes]),
    amount,
    currency: Type.String(),
    from: text,
    to: text,
    reference: text,
    source: Type.Enum(['provider', 'x402', 'notification']),
    state: Type.Enum([...transactionStates]),
    refunded: Type.String({ description: 'The refunded part of the amount, a decimal number.' }),
    note: text,
    created_at: Type.String({ format: 'date-time' }),
    updated_at: Type.String({ format: 'date-time' }),
  },
  { title: 'Transaction' },
)
export type Transaction = Static<typeof transactionSchema>

const filters = {
  type: Type.Optional(
    Type.Enum([...transactionTypes], { description: 'Return only transactions of this type.' }),
  ),
  currency: Type.Optional(
    Type.String({ maxLength: 20, description: 'Return only transactions in this currency.' }),
  ),
  state: Type.Optional(
    Type.Array(Type.Enum([...transactionStates]), {
      description: 'Return only transactions with these statuses. Default: settled.',
    }),
  ),
}
export const transactionListQuery = Type.Object({ ...listParameters, ...filters })
export type TransactionListQuery = Static<typeof transactionListQuery>

export const transactionListSchema = Type.Object({
  transactions: Type.Array(transactionSchema),
  total: Type.Integer(),
  meta: listMetaSchema,
})

const { from, to } = listParameters
export const exportQuery = Type.Object({
  ...filters,
  format: Type.Optional(Type.Enum(['csv'], { description: 'Format of the file.' })),
  from,
  to,
})
export type ExportQuery = Static<typeof exportQuery>

export const summaryQuery = Type.Object({
  from,
  to,
  group: Type.Optional(
    Type.Enum(['day', 'month'], {
      description: 'Group sums by this period. Default: one sum for the whole time.',
    }),
  ),
})
export type SummaryQuery = Static<typeof summaryQuery>

export const summarySchema = Type.Object({
  summary: Type.Array(
    Type.Object(
      {
        period: orNull(Type.String({ description: 'A day or month in UTC.' })),
        type: Type.Enum([...transactionTypes]),
        currency: Type.String(),
        count: Type.Integer({ description: 'Number of settled transactions.' }),
        amount: Type.String({ description: 'The sum of their amounts, a decimal number.' }),
        refunded: Type.String({ description: 'The refunded part of the sum, a decimal number.' }),
      },
      { title: 'TransactionSum' },
    ),
  ),
})
export type TransactionSum = Static<typeof summarySchema>['summary'][number]

export const resolutionSchema = Type.Object({
  outcome: Type.Enum(['settled', 'failed'], { examples: ['settled'] }),
  note: Type.String({ minLength: 1, maxLength: 1000, examples: ['Seen on the account statement'] }),
})
export type Resolution = Static<typeof resolutionSchema>
