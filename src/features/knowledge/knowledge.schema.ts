import type { Static } from 'typebox'
import { Type } from 'typebox'
import { orNull } from '#platform/own-schemas.ts'

export const searchQuery = Type.Object({
  query: Type.String({
    minLength: 1,
    maxLength: 10_000,
    pattern: '\\S',
    description: 'What to look for: words or a question.',
  }),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1000, description: 'Results wanted; 10 unless given.' }),
  ),
  source_id: Type.Optional(
    Type.Array(Type.String(), { maxItems: 100, description: 'Only from these sources.' }),
  ),
  min_score: Type.Optional(
    Type.Number({ minimum: 0, maximum: 1, description: 'Only results at least this good.' }),
  ),
})
export type SearchQuery = Static<typeof searchQuery>

const place = {
  source_name: Type.String(),
  page: orNull(Type.Integer()),
  section: orNull(Type.String()),
  start: Type.Integer({ description: 'Where it begins in the extracted text, in UTF-16 units.' }),
  end: Type.Integer(),
  url: Type.Optional(Type.String({ description: 'Address of the page, where the source is a website.' })),
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
          description:
            'Where else as good as the same text was found; such chunks are no results of their own.',
        }),
      ),
    }),
  },
  { title: 'SearchResult' },
)
export type SearchResult = Static<typeof searchResultSchema>

export const searchAnswerSchema = Type.Object({ results: Type.Array(searchResultSchema) })
