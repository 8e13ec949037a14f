import type { Static } from 'typebox'
import { Type } from 'typebox'
import { orNull } from '#platform/own-schemas.ts'

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

const place = {
  source_name: Type.String(),
  page: orNull(Type.Integer()),
  section: orNull(Type.String()),
  start: Type.Integer({ description: 'Offset in the extracted text, in UTF-16 code units.' }),
  end: Type.Integer(),
  url: Type.Optional(Type.String({ description: 'URL of the page if the source is a website.' })),
}

export const searchResultSchema = Type.Object(
  {
    id: Type.String(),
    source_id: Type.String(),
    content: Type.String(),
    score: Type.Number({ minimum: 0, maximum: 1 }),
    metadata: Type.Object({
      ...place,
      duplicates: Type.Optional(
        Type.Array(Type.Object({ id: Type.String(), source_id: Type.String(), ...place }), {
          description: 'Other places with nearly the same text. They are not listed as results of their own.',
        }),
      ),
    }),
  },
  { title: 'SearchResult' },
)
export type SearchResult = Static<typeof searchResultSchema>

export const searchAnswerSchema = Type.Object({ results: Type.Array(searchResultSchema) })
