import { type Kysely, sql } from 'kysely'
import { defaultChunking } from '#documents/chunking/chunking-options.ts'
import { listLarge } from '#platform/http/lists/list-large.ts'
import { listOf } from '#platform/http/lists/list-of.ts'
import type { Page } from '#platform/http/lists/list-query.ts'
import { prepareQuery, type ValueOf } from '#platform/prepared-query.ts'
import { matches } from '#platform/schema-check.ts'
import { parseJsonColumn } from '#storage/json-column.ts'
import { sourceTables } from '#storage/tables/sources.ts'
import type { AgentTables } from '#storage/tables.ts'
import { countPages, failuresOf } from './crawl/crawl.repository.ts'
import type { LastCopy } from './fetching/last-copy.ts'
import { inWork } from './source-status.ts'
import {
  apiConfigSchema,
  type CrawlConfig,
  crawlConfigSchema,
  databaseConfigSchema,
  fileConfigSchema,
  type Source,
  type SourceListQuery,
  type SourceStatus,
} from './sources.schema.ts'

type Database = Kysely<AgentTables>
type SourceRow = Awaited<ReturnType<ReturnType<typeof selectSources>['execute']>>[number]
const sourceList = listOf(sourceTables.columns.sources, {
  sortable: ['id', 'name', 'type', 'status', 'progress', 'chunks', 'created_at', 'updated_at'],
  searchable: ['name'],
})

const columns = [
  'id',
  'type',
  'name',
  'status',
  'error',
  'warnings',
  'progress',
  'chunks',
  'file_path',
  'config',
  'created_at',
  'updated_at',
] as const

/** Selects sources that are not removed. */
function selectSources(database: Database) {
  return database.selectFrom('sources').select(columns).where('removed_at', 'is', null)
}

/** Selects the places in a list, before the sources with their possibly large configurations. */
function selectPlaces(database: Database) {
  const size = sql<number>`octet_length(name) + octet_length(config) + coalesce(octet_length(error), 0) + coalesce(octet_length(warnings), 0)`
  return database
    .selectFrom('sources')
    .select([...sourceList.columns, size.as('size')])
    .where('removed_at', 'is', null)
}

const selectOne = prepareQuery((database: Database, value: ValueOf<'id'>) =>
  selectSources(database).where('id', '=', value('id')),
)

export async function listSources(database: Database, query: SourceListQuery): Promise<Page<Source>> {
  let sources = selectPlaces(database)
  if (query.status !== undefined) sources = sources.where('status', 'in', query.status)
  if (query.type !== undefined) sources = sources.where('type', 'in', query.type)
  const { rows, meta } = await listLarge(sources, sourceList, query, {
    key: 'id',
    read: ids => selectSources(database).where('id', 'in', ids).execute(),
  })
  const found = rows.map(toSource)
  const crawling = found.filter(({ status }) => status === 'crawling').map(({ id }) => id)
  const counts = await countPages(database, crawling)
  return { rows: found.map(source => withPageCount(source, counts)), meta }
}

export async function findSource(database: Database, id: string): Promise<Source | undefined> {
  const [row] = await selectOne(database, { id })
  return row === undefined ? undefined : toSource(row)
}

/** Returns the newest uploaded source with this name. */
export async function findNamedFile(database: Database, name: string): Promise<Source | undefined> {
  const row = await selectSources(database)
    .where('type', '=', 'file')
    .where('name', '=', name)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row && toSource(row)
}

/** Returns a source with the progress of its crawl. */
export async function findLiveSource(database: Database, id: string): Promise<Source | undefined> {
  const source = await findSource(database, id)
  if (source?.status !== 'crawling') return source
  const live = withPageCount(source, await countPages(database, [id]))
  return { ...live, config: { ...live.config, failedPages: await failuresOf(database, id) } }
}

function withPageCount(source: Source, counts: Map<string, number>): Source {
  if (source.status !== 'crawling') return source
  return { ...source, config: { ...source.config, pageCount: counts.get(source.id) ?? 0 } }
}

/** Inserts a source. @param secretSet names the secrets of its configuration. */
export async function insertSource(
  database: Database,
  source: Source,
  secretSet: string | null = null,
): Promise<void> {
  const { chunks = null, error = null, file_path = null, warnings: _, config, ...row } = source
  await database
    .insertInto('sources')
    .values({ ...row, chunks, error, file_path, config: JSON.stringify(config), secret_set: secretSet })
    .execute()
}

export interface SourceChanges {
  status?: SourceStatus
  error?: string | null
  progress?: number
  chunks?: number
  name?: string
  file_path?: string
  config?: Source['config']
  last_copy?: LastCopy
  /** The embedding being computed, or that failed. A status change that doesn't set it clears it. */
  new_embedding?: string
  /** The time when the source was hidden. */
  removed_at?: string
  updated_at?: string
}

/** Returns false if the source does not exist; removed ones stay unchanged. */
export async function updateSource(database: Database, id: string, changes: SourceChanges): Promise<boolean> {
  const { config, last_copy, ...columns } = changes
  const forgotten = changes.status === undefined ? {} : { new_embedding: null }
  const result = await database
    .updateTable('sources')
    .set({
      ...forgotten,
      ...columns,
      ...(config !== undefined && { config: JSON.stringify(config) }),
      ...(last_copy !== undefined && { last_copy: JSON.stringify(last_copy) }),
    })
    .where('id', '=', id)
    .where('removed_at', 'is', null)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

/** Raises the progress, never backwards: a website can yield more new pages than were done. */
export async function raiseProgress(database: Database, id: string, progress: number): Promise<void> {
  await database
    .updateTable('sources')
    .set({ progress })
    .where('id', '=', id)
    .where('progress', '<', progress)
    .execute()
}

export async function deleteSource(database: Database, id: string): Promise<void> {
  await database.deleteFrom('sources').where('id', '=', id).execute()
}

/** Returns the external resources of a hidden source before its deletion; undefined if there is none. */
export async function findRemoved(
  database: Database,
  id: string,
): Promise<{ file_path: string | null; secret_set: string | null } | undefined> {
  return await database
    .selectFrom('sources')
    .select(['file_path', 'secret_set'])
    .where('id', '=', id)
    .where('removed_at', 'is not', null)
    .executeTakeFirst()
}

/** Returns true if a source, removed or not, has this file. */
export async function isNamedFile(database: Database, name: string): Promise<boolean> {
  const source = await database
    .selectFrom('sources')
    .select('id')
    .where('file_path', '=', name)
    .executeTakeFirst()
  return source !== undefined
}

export async function countInWork(database: Database): Promise<number> {
  const { count } = await database
    .selectFrom('sources')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('status', 'in', inWork)
    .where('removed_at', 'is', null)
    .executeTakeFirstOrThrow()
  return Number(count)
}

function toSource(row: SourceRow): Source {
  const source: Source = {
    id: row.id,
    type: row.type as Source['type'],
    name: row.name,
    status: row.status as SourceStatus,
    progress: row.progress,
    config: configOf(row),
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
  if (row.error !== null) source.error = row.error
  if (row.warnings !== null) source.warnings = parseJsonColumn<string[]>(row.warnings, [])
  if (row.chunks !== null) source.chunks = row.chunks
  if (row.file_path !== null) source.file_path = row.file_path
  return source
}

/** Returns the configuration; an unreadable one becomes the defaults, without file, query or address. */
function configOf({ type, config: text }: Pick<SourceRow, 'type' | 'config'>): Source['config'] {
  const config = parseJsonColumn<unknown>(text, undefined)
  if (type === 'crawl') return matches(crawlConfigSchema, config) ? config : unknownCrawl
  if (type === 'database')
    return matches(databaseConfigSchema, config) ? config : { ...defaultChunking, query: '' }
  if (type === 'api')
    return matches(apiConfigSchema, config) ? config : { ...defaultChunking, url: '', headers: {} }
  return matches(fileConfigSchema, config) ? config : { ...defaultChunking, file_name: '' }
}

const unknownCrawl: CrawlConfig = {
  url: '',
  maxPages: 0,
  maxDepth: 0,
  includePatterns: [],
  excludePatterns: [],
  useSitemap: false,
  render: 'never',
  startedAt: new Date(0).toISOString(),
}
