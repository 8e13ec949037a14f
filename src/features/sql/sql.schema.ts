import { type Static, Type } from 'typebox'
import { maxLength, maxParameters } from '#sandbox/sql/limits.ts'

/*
 * Statement: one piece of SQL for the agent's own database. Positional parameter: a `?` in it, whose value
 * is passed separately and can never become a part of the SQL.
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
              description: '`text`, `integer`, `real` or `blob`, or the type as the database names it.',
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
  description: 'A value for each `?` of the query, in order: strings, numbers, booleans or null.',
})

export const statementSchema = Type.Object({
  query: Type.String({ maxLength, description: 'One SQL statement.', examples: ['SELECT 1'] }),
  params: Type.Optional(values),
  'the service': Type.Optional({
    ...values,
    description: 'Another name for `params`. Send only one of them.',
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
        'The values of each row in column order: strings, numbers, booleans, null; bytes as `{"base64": "…"}`; numbers that JSON or JavaScript cannot represent exactly as strings.',
    }),
    row_count: Type.Integer({
      description: 'Number of rows that the statement changed or, if it changes none, returned.',
    }),
    duration_ms: Type.Integer(),
    truncated: Type.Optional(
      Type.Literal(true, { description: 'Present if the statement had more rows than `rows` contains.' }),
    ),
  },
  { title: 'SqlResult' },
)
export type StatementResult = Static<typeof resultSchema>
