import { type Static, Type } from 'typebox'
import { maxLength as maxQueryLength } from '#sandbox/sql/limits.ts'
import { chunkingWishes } from './sources.schema.ts'

const strict = { additionalProperties: false }

export const newDatabaseSchema = Type.Object(
  {
    type: Type.Literal('database'),
    name: Type.String({ minLength: 1, maxLength: 300, pattern: '\\S', examples: ['Prices'] }),
    query: Type.String({
      minLength: 1,
      maxLength: maxQueryLength,
      examples: ['SELECT 1 AS price'],
      description: "One SELECT statement on the agent's database.",
    }),
    ...chunkingWishes,
  },
  strict,
)
export type NewDatabase = Static<typeof newDatabaseSchema>

export const newApiSchema = Type.Object(
  {
    type: Type.Literal('api'),
    name: Type.String({ minLength: 1, maxLength: 300, pattern: '\\S' }),
    url: Type.String({ minLength: 1, maxLength: 2_000, description: 'URL that is fetched with GET.' }),
    headers: Type.Optional(
      Type.Record(Type.String(), Type.String({ maxLength: 8_000 }), {
        maxProperties: 50,
        writeOnly: true,
        description:
          'Request headers, such as Authorization. They are not sent to other servers after a redirect. Values are Latin-1 without line breaks.',
      }),
    ),
    ...chunkingWishes,
  },
  strict,
)
export type NewApi = Static<typeof newApiSchema>

/** The documented JSON body; `fetching/new-fetched.ts` reads it. */
export const newFetchedSchema = Type.Union([newDatabaseSchema, newApiSchema])
