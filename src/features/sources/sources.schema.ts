import { type Static, Type } from 'typebox'
import { chunkingBounds, chunkingMethods, defaultChunking } from '#documents/chunking/chunking-options.ts'
import { type DocumentText, maxTextLength } from '#features/knowledge/document-text.service.ts'
import { filterBy, listParameters } from '#platform/http/lists/list-query.ts'

/*
 * Source: material for an agent's answers, such as an uploaded file or a website. Document: the file, or one
 * page of the website. Chunk: a piece of a document's text, the unit of search. Processing: parsing,
 * chunking, embedding and indexing, done by a job after the response. Fetched source: one whose content comes
 * from a query or a URL, again at each refresh.
 */

export const sourceTypes = ['file', 'crawl', 'database', 'api'] as const
export const sourceStatuses = ['pending', 'processing', 'crawling', 'ready', 'error', 'updating'] as const
export type SourceStatus = (typeof sourceStatuses)[number]

const time = Type.String({ format: 'date-time' })

const chunkingFields = {
  chunk_size: Type.Integer({ description: 'Maximum length of a chunk in characters.' }),
  overlap: Type.Integer({ description: 'Maximum overlap of consecutive chunks in characters.' }),
  method: Type.Enum([...chunkingMethods]),
}

/** The chunking of a file, and its name. */
export const fileConfigSchema = Type.Object({
  ...chunkingFields,
  file_name: Type.String({ description: 'Original name of the uploaded file.' }),
})
export type FileConfig = Static<typeof fileConfigSchema>

const fetchedAt = Type.Optional(
  Type.String({ format: 'date-time', description: 'Time of the last successful fetch.' }),
)

/** A query on the agent's own database; each fetch runs it again. */
export const databaseConfigSchema = Type.Object({
  query: Type.String({ description: 'One SELECT statement.' }),
  ...chunkingFields,
  fetched_at: fetchedAt,
})
export type DatabaseConfig = Static<typeof databaseConfigSchema>

/** A URL that each fetch requests again. */
export const apiConfigSchema = Type.Object({
  url: Type.String(),
  headers: Type.Record(Type.String(), Type.String(), {
    description: 'Headers of each request. Values that may be secret are masked.',
  }),
  ...chunkingFields,
  fetched_at: fetchedAt,
})
export type ApiConfig = Static<typeof apiConfigSchema>

export type FetchedConfig = DatabaseConfig | ApiConfig

export const renderModes = ['auto', 'never', 'always'] as const

/** A website: the requested crawl, and its outcome. */
export const crawlConfigSchema = Type.Object({
  ...Type.Partial(Type.Object(chunkingFields)).properties,
  url: Type.String({ description: 'The start page.' }),
  maxPages: Type.Integer(),
  maxDepth: Type.Integer({ description: 'Maximum number of links from the start page, which has depth 0.' }),
  includePatterns: Type.Array(Type.String()),
  excludePatterns: Type.Array(Type.String()),
  useSitemap: Type.Boolean({ description: "Whether the pages in the site's sitemap are crawled as well." }),
  render: Type.Enum([...renderModes], {
    description: 'Which pages a browser renders: `auto`, all or none.',
  }),
  startedAt: Type.String({ format: 'date-time', description: 'Start of the latest crawl.' }),
  pageCount: Type.Optional(
    Type.Integer({ description: 'Number of pages found, so far if a crawl is running.' }),
  ),
  lastCrawledAt: Type.Optional(time),
  pageHashes: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description: "SHA-256 hash of each page's title and text, by URL.",
    }),
  ),
  changedPages: Type.Optional(
    Type.Integer({ description: 'Number of pages that the latest repeated crawl found new or changed.' }),
  ),
  unchangedPages: Type.Optional(Type.Integer()),
  failedPages: Type.Optional(
    Type.Array(Type.Object({ url: Type.String(), reason: Type.String() }), {
      description: 'URLs that could not be read, with the reason; an earlier copy is kept. At most 100.',
    }),
  ),
})
export type CrawlConfig = Static<typeof crawlConfigSchema>

export const sourceSchema = Type.Object(
  {
    id: Type.String(),
    type: Type.Enum([...sourceTypes]),
    name: Type.String(),
    status: Type.Enum([...sourceStatuses]),
    progress: Type.Number({ minimum: 0, maximum: 1, description: 'Progress of processing.' }),
    error: Type.Optional(Type.String({ description: 'The reason. Present while `status` is `error`.' })),
    warnings: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Sentences that name what of the file could not be read. Absent if all of it was.',
      }),
    ),
    chunks: Type.Optional(
      Type.Integer({ description: 'Number of chunks. Present once the source is processed.' }),
    ),
    file_path: Type.Optional(Type.String({ description: 'Name of the stored file.' })),
    config: Type.Union([fileConfigSchema, crawlConfigSchema, databaseConfigSchema, apiConfigSchema]),
    created_at: time,
    updated_at: time,
  },
  { title: 'Source' },
)
export type Source = Static<typeof sourceSchema>

export const sourceListQuery = Type.Object({
  ...listParameters,
  status: filterBy(Type.Enum([...sourceStatuses])),
  type: filterBy(Type.Enum([...sourceTypes])),
})
export type SourceListQuery = Static<typeof sourceListQuery>

export const textQuery = Type.Object({
  url: Type.Optional(Type.String({ maxLength: 2_000, description: 'The page. Required for a website.' })),
  start: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Offset in the text, in UTF-16 code units. Default: 0.' }),
  ),
  end: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: `Exclusive. One answer has at most ${maxTextLength.toLocaleString('en')} units.`,
    }),
  ),
})
export type TextQuery = Static<typeof textQuery>
export type SourceText = DocumentText

/** The chunking of a new source; `chunking-form.ts` checks that the overlap fits the size. */
export const chunkingWishes = {
  chunk_size: Type.Optional(
    Type.Integer({
      minimum: chunkingBounds.chunk_size.min,
      maximum: chunkingBounds.chunk_size.max,
      description: `Maximum length of a chunk in characters. Default: ${defaultChunking.chunk_size}.`,
    }),
  ),
  overlap: Type.Optional(
    Type.Integer({
      minimum: chunkingBounds.overlap.min,
      description: `Maximum overlap of consecutive chunks in characters, less than half of \`chunk_size\`. Default: ${defaultChunking.overlap}, or less for small chunks.`,
    }),
  ),
  method: Type.Optional(
    Type.Enum([...chunkingMethods], { description: `Default: ${defaultChunking.method}.` }),
  ),
}

/** The documented form of an upload; `sources.service.ts` reads it. */
const uploadFields = {
  type: Type.Optional(Type.Enum(['file'])),
  name: Type.Optional(Type.String({ maxLength: 300 })),
  file: Type.String({ format: 'binary' }),
  ...chunkingWishes,
}
export const uploadForm = Type.Object({
  ...uploadFields,
  replace: Type.Optional(
    Type.Enum(['true', 'false'], {
      description:
        'Whether the newest uploaded source of the same name gets this file and keeps its id. Default: false.',
    }),
  ),
})
export const replacementForm = Type.Object(uploadFields)

/** Max number and length of patterns, so that they cost no more than a page does. */
const patterns = Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: 50 })

export interface CrawlBounds {
  maxPages: number
  maxDepth: number
}

/** @param bounds the max values of a request. */
export function newCrawlSchema({ maxPages, maxDepth }: CrawlBounds) {
  return Type.Object({
    url: Type.String({
      minLength: 1,
      maxLength: 2_000,
      description: 'The start page.',
      examples: ['https://example.com/'],
    }),
    name: Type.String({ minLength: 1, maxLength: 300, pattern: '\\S', examples: ['Example'] }),
    maxPages: Type.Optional(Type.Integer({ minimum: 1, maximum: maxPages })),
    maxDepth: Type.Optional(Type.Integer({ minimum: 0, maximum: maxDepth })),
    includePatterns: Type.Optional(patterns),
    excludePatterns: Type.Optional(patterns),
    useSitemap: Type.Optional(Type.Boolean()),
    render: Type.Optional(
      Type.Enum([...renderModes], {
        description:
          'Which pages a browser renders before they are read: those whose scripts write their content (`auto`, the default), all, or none.',
      }),
    ),
    ...chunkingWishes,
  })
}
export type NewCrawl = Static<ReturnType<typeof newCrawlSchema>>

export const createdCrawlSchema = Type.Object({
  id: Type.String(),
  type: Type.String(),
  name: Type.String(),
  status: Type.String(),
  config: crawlConfigSchema,
  created_at: time,
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
