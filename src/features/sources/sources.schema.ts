import type { Static } from 'typebox'
import { Type } from 'typebox'
import { listMetaSchema, listParameters } from '#platform/http/list-query.ts'
import { chunkingMethods } from './chunking/chunking-options.ts'

/*
 * Source: something that an agent answers from, such as an uploaded file. Chunk: a piece of its text, the unit that is
 * found. Processing: parsing, chunking, embedding and indexing, done by a job after the upload was answered.
 */

export const sourceTypes = ['file', 'crawl', 'database', 'api'] as const
export const sourceStatuses = ['pending', 'processing', 'crawling', 'ready', 'error', 'updating'] as const
export type SourceStatus = (typeof sourceStatuses)[number]

const time = Type.String({ format: 'date-time' })

/** How a file was cut, and where it came from. */
export const fileConfigSchema = Type.Object({
  chunk_size: Type.Integer({ description: 'Greatest length of a chunk in characters.' }),
  overlap: Type.Integer({ description: 'How much of a chunk the next one repeats at most, in characters.' }),
  method: Type.Enum([...chunkingMethods]),
  file_name: Type.String({ description: 'Name of the file as it was uploaded.' }),
})
export type FileConfig = Static<typeof fileConfigSchema>

export const sourceSchema = Type.Object(
  {
    id: Type.String(),
    type: Type.Enum([...sourceTypes]),
    name: Type.String(),
    status: Type.Enum([...sourceStatuses]),
    progress: Type.Number({ minimum: 0, maximum: 1, description: 'How far processing has come.' }),
    error: Type.Optional(Type.String({ description: 'What went wrong; there while `status` is `error`.' })),
    chunks: Type.Optional(Type.Integer({ description: 'Number of chunks; there once processed.' })),
    file_path: Type.Optional(Type.String({ description: 'Name under which the upload is stored.' })),
    config: fileConfigSchema,
    created_at: time,
    updated_at: time,
  },
  { title: 'Source' },
)
export type Source = Static<typeof sourceSchema>

export const sourceListQuery = Type.Object({
  ...listParameters,
  status: Type.Optional(Type.Array(Type.Enum([...sourceStatuses]))),
  type: Type.Optional(Type.Array(Type.Enum([...sourceTypes]))),
})
export type SourceListQuery = Static<typeof sourceListQuery>

export const sourceListSchema = Type.Object({ sources: Type.Array(sourceSchema), meta: listMetaSchema })

/** The form of an upload, as the documentation tells of it; `sources.service.ts` reads it. */
export const uploadForm = Type.Object({
  type: Type.Optional(Type.Enum(['file'])),
  name: Type.Optional(Type.String({ maxLength: 300 })),
  file: Type.String({ format: 'binary' }),
  chunk_size: Type.Optional(Type.Integer()),
  overlap: Type.Optional(Type.Integer()),
  method: Type.Optional(Type.Enum([...chunkingMethods])),
})

export const createdSourceSchema = Type.Object({
  id: Type.String(),
  type: Type.String(),
  name: Type.String(),
  status: Type.String(),
  created_at: time,
})

export const reprocessedSourceSchema = Type.Object({
  id: Type.String(),
  type: Type.String(),
  status: Type.String(),
  message: Type.String(),
})

export const searchQuery = Type.Object({
  query: Type.String({ minLength: 1, maxLength: 10_000, pattern: '\\S' }),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1000, description: 'Results wanted; 10 unless given.' }),
  ),
  source_id: Type.Optional(Type.String({ description: 'Only from this source.' })),
  min_score: Type.Optional(
    Type.Number({ minimum: 0, maximum: 1, description: 'Only results at least this good.' }),
  ),
})
export type SearchQuery = Static<typeof searchQuery>

const place = {
  source_name: Type.String(),
  page: Type.Union([Type.Integer(), Type.Null()]),
  section: Type.Union([Type.String(), Type.Null()]),
  start: Type.Integer(),
  end: Type.Integer(),
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
