import { type Static, Type } from 'typebox'
import { citedPassageSchema, placeFields } from '#models/language-model/passages.ts'

export const searchQuery = Type.Object({
  query: Type.String({
    minLength: 1,
    maxLength: 10_000,
    pattern: '\\S',
    description: 'Words or a question to search for.',
  }),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1000, description: 'Maximum number of results. Default: 10.' }),
  ),
  source_id: Type.Optional(
    Type.Array(Type.String(), { maxItems: 100, description: 'Search only these sources.' }),
  ),
  min_score: Type.Optional(
    Type.Number({ minimum: 0, maximum: 1, description: 'Return only results with at least this score.' }),
  ),
})
export type SearchQuery = Static<typeof searchQuery>

export const searchResultSchema = Type.Object(
  {
    id: Type.String(),
    source_id: Type.String(),
    content: Type.String(),
    score: Type.Number({ minimum: 0, maximum: 1 }),
    metadata: Type.Object({
      ...placeFields,
      duplicates: Type.Optional(
        Type.Array(citedPassageSchema, {
          description: 'Other places with nearly the same text. They are not listed as results of their own.',
        }),
      ),
    }),
  },
  { title: 'SearchResult' },
)
export type SearchResult = Static<typeof searchResultSchema>

export const searchAnswerSchema = Type.Object({ results: Type.Array(searchResultSchema) })
