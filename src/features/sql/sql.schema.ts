import type { Static } from 'typebox'
import { Type } from 'typebox'
import { maxLength, maxParameters } from '#sandbox/sql/limits.ts'

/*
 * Statement: one piece of SQL that is run on the agent's own database. Positional parameter: a `?` in it, whose value is
 * given beside it and can never become a part of the SQL.
 */

export const tablesSchema = Type.Object(
  {
    tables: Type.Array(
      Type.Object({
        name: Type.String(),
        columns: Type.Array(
          Type.Object({
            name: Type.String(),
            type: Type.String({
              description: 'As `text`, `integer`, `real` or `blob`, or in the words of the database.',
            }),
            nullable: Type.Boolean(),
          }),
        ),
      }),
    ),
  },
  { title: 'SqlSchema' },
)

type Value = string | number | boolean | null

const values = Type.Array(Type.Unsafe<Value>({ type: ['string', 'number', 'boolean', 'null'] }), {
  maxItems: maxParameters,
  description: 'A value for each `?` of the query, in order: texts, numbers, truth values, null.',
})

export const statementSchema = Type.Object({
  query: Type.String({ maxLength, description: 'One SQL statement.', examples: ['SELECT 1'] }),
  params: Type.Optional(values),
  'the service': Type.Optional({
    ...values,
    description: 'Another name of `params`; only one of them is taken.',
  }),
})
export type StatementBody = Static<typeof statementSchema>

export const resultSchema = Type.Object(
  {
    columns: Type.Array(Type.String()),
    rows: Type.Unsafe<unknown[][]>({
      type: 'array',
      items: { type: 'array', items: {} },
      description:
        'Values of the columns, in their order: texts, numbers, truth values, null; bytes as `{"base64": "…"}`; numbers that JSON or JavaScript can not hold exactly as texts.',
    }),
    row_count: Type.Integer({
      description: 'Rows that a statement has changed, or else those of the answer.',
    }),
    duration_ms: Type.Integer(),
    truncated: Type.Optional(
      Type.Literal(true, { description: 'There when the statement had more rows than these.' }),
    ),
  },
  { title: 'SqlResult' },
)
export type StatementResult = Static<typeof resultSchema>
