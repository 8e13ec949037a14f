import { cursorMeta, listMeta, listQuery, type RestArea, under } from '../rest-row.ts'

const sourceFields = ['id', 'type', 'name', 'status', 'created_at', 'updated_at']

const fileConfigFields = ['chunk_size', 'overlap', 'method']

const crawlSettings = [
  ...['url', 'maxPages', 'maxDepth', 'includePatterns', 'excludePatterns'],
  ...['useSitemap', 'render', 'startedAt'],
]

const crawlOutcomes = [
  'pageCount',
  'lastCrawledAt',
  'pageHashes',
  'changedPages',
  'unchangedPages',
  'failedPages',
]

/** Of sources that are fetched: a query, or an address with its headers. */
const fetchedConfigFields = ['query', 'headers', 'fetched_at']

const configFields = under('config', [
  ...[...fileConfigFields, ...fetchedConfigFields],
  ...[...crawlSettings, ...crawlOutcomes],
])

/** `chunks` once processed, `progress` (0 to 1) on the way there, `error` when it failed, `warnings` when not all was read. */
const processingFields = ['chunks', 'progress', 'error', 'warnings']

export const sourceRows = {
  area: 'sources',
  errorShape: 'generic',
  rows: [
    {
      id: 'GET /api/agents/{id}/sources',
      success: 200,
      query: listQuery,
      responseFields: [...under('sources[]', sourceFields), ...listMeta],
      conditionalFields: [
        ...under('sources[]', ['config', ...configFields, ...processingFields]),
        ...cursorMeta,
      ],
      errors: [400],
      limit: 'general',
    },
    {
      id: 'POST /api/agents/{id}/sources',
      success: 201,
      // A form for files; JSON with `query` for a database source, with `url` and `headers` for an API source.
      requestFields: ['type', 'name', 'file', ...fileConfigFields, 'query', 'url', 'headers'],
      responseFields: ['id', 'type', 'name', 'status', 'created_at'],
      errors: [400, 413, 415],
      limit: 'general',
    },
    {
      id: 'POST /api/agents/{id}/sources/crawl',
      success: 201,
      requestFields: [
        ...['url', 'name', 'maxPages', 'maxDepth', 'includePatterns', 'excludePatterns'],
        ...['useSitemap', 'render'],
      ],
      responseFields: ['id', 'type', 'name', 'status', ...under('config', crawlSettings), 'created_at'],
      errors: [400],
      limit: 'bulk',
    },
    {
      id: 'GET /api/agents/{id}/sources/search',
      success: 200,
      query: ['query', 'limit', 'source_id', 'min_score'],
      responseFields: under('results[]', ['id', 'source_id', 'content', 'score', 'metadata.source_name']),
      conditionalFields: under('results[]', ['metadata.page', 'metadata.section', 'metadata.url']),
      errors: [400, 404],
      limit: 'general',
    },
    {
      id: 'GET /api/agents/{id}/sources/{sourceId}',
      success: 200,
      responseFields: [...sourceFields, 'config'],
      conditionalFields: ['file_path', ...configFields, ...processingFields],
      errors: [404],
      limit: 'general',
    },
    {
      id: 'DELETE /api/agents/{id}/sources/{sourceId}',
      success: 200,
      responseFields: ['success'],
      errors: [404],
      limit: 'general',
    },
    {
      id: 'POST /api/agents/{id}/sources/{sourceId}/reindex',
      success: 200,
      responseFields: ['id', 'type', 'status', 'message'],
      errors: [404, 409],
      limit: 'bulk',
    },
    {
      id: 'POST /api/agents/{id}/sources/{sourceId}/refresh',
      success: 200,
      responseFields: ['id', 'type', 'status', 'message'],
      errors: [400, 404, 409],
      limit: 'general',
    },
  ],
} as const satisfies RestArea
