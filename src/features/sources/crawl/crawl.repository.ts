import { createHash } from 'node:crypto'
import { Type } from 'typebox'
import { matches } from '#platform/schema-check.ts'
import { parseJsonColumn } from '#storage/json-column.ts'
import type { AgentTables, AgentDatabase as Database } from '#storage/tables.ts'
import { crawlLimits } from './crawl-limits.ts'
import type { ComparedPage } from './page/page-blocks.ts'

/**
 * The state of an address in the queue. `waiting`: not visited yet; `changed`, `unchanged`: a page with new
 * content, or the same as before; `kept`: a page that could not be read this time, whose last good copy
 * stays; `same`: another address led to its page before; `skipped`, `gone`, `failed`: no page; `sitemap`: no
 * page either, but with links to pages. Addresses without a page but with links have a document, too.
 */
export type QueueState = PageState | 'waiting' | 'same' | 'skipped' | 'gone' | 'failed' | 'sitemap'
export type PageState = 'changed' | 'unchanged' | 'kept'

/** States of the source's pages. */
const pageStates: QueueState[] = ['changed', 'unchanged', 'kept']
/** States that a source reports, with the reason. */
const reportedStates: QueueState[] = ['kept', 'skipped', 'gone', 'failed']

export type QueuedUrl = Pick<AgentTables['crawl_queue'], 'position' | 'url' | 'depth'>

export interface StoredPage extends Omit<AgentTables['crawl_pages'], 'source_id' | 'links'> {
  links: string[]
}

export interface PageFailure {
  url: string
  reason: string
}

export type StoredText = Omit<AgentTables['crawl_texts'], 'source_id'>

/** Stored in place of a hash for a document that is only stored for its links. */
export const noContent = ''

/** Returns the document's id, made of its URL, so that a page is stored only once. */
export function documentOfPage(url: string): string {
  return createHash('sha256').update(url).digest('hex')
}

/** Begins a crawl with only the start page in the queue. */
export async function resetQueue(db: Database, sourceId: string, url: string): Promise<void> {
  await clearQueue(db, sourceId)
  await addToQueue(db, sourceId, [{ position: 0, url, depth: 0 }])
}

export async function clearQueue(db: Database, sourceId: string): Promise<void> {
  await db.deleteFrom('crawl_queue').where('source_id', '=', sourceId).execute()
}

/** Max rows of one INSERT; engines limit the number of its values. */
const rowsPerInsert = 500

export interface NewEntry extends QueuedUrl {
  state?: QueueState
  reason?: string
  document?: string
}

/** Adds URLs; those in the queue stay unchanged. */
export async function addToQueue(db: Database, sourceId: string, added: readonly NewEntry[]): Promise<void> {
  const rows = added.map(({ state = 'waiting', reason = null, document = null, ...entry }) => ({
    ...entry,
    source_id: sourceId,
    state,
    reason,
    document,
  }))
  for (let at = 0; at < rows.length; at += rowsPerInsert)
    await db
      .insertInto('crawl_queue')
      .values(rows.slice(at, at + rowsPerInsert))
      .onConflict(conflict => conflict.columns(['source_id', 'url']).doNothing())
      .execute()
}

export async function nextInQueue(db: Database, sourceId: string, limit: number): Promise<QueuedUrl[]> {
  return await db
    .selectFrom('crawl_queue')
    .select(['position', 'url', 'depth'])
    .where('source_id', '=', sourceId)
    .where('state', '=', 'waiting')
    .orderBy('position')
    .limit(limit)
    .execute()
}

export async function settleInQueue(
  db: Database,
  sourceId: string,
  position: number,
  settled: { state: QueueState; reason?: string | null; document?: string | null },
): Promise<void> {
  await db
    .updateTable('crawl_queue')
    .set({ reason: null, document: null, ...settled })
    .where('source_id', '=', sourceId)
    .where('position', '=', position)
    .execute()
}

export interface QueueCounts {
  /** The number of addresses, and the position after the last one. */
  known: number
  next: number
  waiting: number
  pages: number
  changed: number
  unchanged: number
  /** The number of reported addresses without a page. */
  reported: number
}

export async function countQueue(db: Database, sourceId: string): Promise<QueueCounts> {
  const rows = await db
    .selectFrom('crawl_queue')
    .select(({ fn }) => ['state', fn.countAll().as('count'), fn.max('position').as('last')])
    .where('source_id', '=', sourceId)
    .groupBy('state')
    .execute()
  const counts = { known: 0, next: 0, waiting: 0, pages: 0, changed: 0, unchanged: 0, reported: 0 }
  for (const { state, count, last } of rows) {
    counts.known += Number(count)
    counts.next = Math.max(counts.next, Number(last) + 1)
    if (state === 'waiting' || state === 'changed' || state === 'unchanged') counts[state] += Number(count)
    if (pageStates.includes(state as QueueState)) counts.pages += Number(count)
    if (reportedStates.includes(state as QueueState)) counts.reported += Number(count)
  }
  return counts
}

/** Returns the number of pages that the current crawl of each source has found so far. */
export async function countPages(db: Database, sourceIds: readonly string[]): Promise<Map<string, number>> {
  if (sourceIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('crawl_queue')
    .select(({ fn }) => ['source_id', fn.countAll().as('count')])
    .where('source_id', 'in', sourceIds)
    .where('state', 'in', pageStates)
    .groupBy('source_id')
    .execute()
  return new Map(rows.map(({ source_id, count }) => [source_id, Number(count)]))
}

/** Returns URLs without a complete current page, with the reason, in the order of the crawl. */
export async function failuresOf(db: Database, sourceId: string): Promise<PageFailure[]> {
  const rows = await db
    .selectFrom('crawl_queue')
    .select(['url', 'reason'])
    .where('source_id', '=', sourceId)
    .where(({ eb, or }) => or([eb('state', 'in', reportedStates), eb('reason', 'is not', null)]))
    .orderBy('position')
    .limit(crawlLimits.failuresShown)
    .execute()
  return rows.map(({ url, reason }) => ({ url, reason: reason ?? '' }))
}

/** Returns the URLs that are not in the queue yet, in the same order. */
export async function unknownUrls(
  db: Database,
  sourceId: string,
  urls: readonly string[],
): Promise<string[]> {
  const known = new Set<string>()
  for (let at = 0; at < urls.length; at += rowsPerInsert) {
    const rows = await db
      .selectFrom('crawl_queue')
      .select('url')
      .where('source_id', '=', sourceId)
      .where('url', 'in', urls.slice(at, at + rowsPerInsert))
      .execute()
    for (const { url } of rows) known.add(url)
  }
  return urls.filter(url => !known.has(url))
}

/** Returns why there is nothing to crawl; undefined while the start page waits, or if it was read. */
export async function startProblem(db: Database, sourceId: string): Promise<string | undefined> {
  const start = await db
    .selectFrom('crawl_queue')
    .select(['state', 'reason', 'document'])
    .where('source_id', '=', sourceId)
    .where('position', '=', 0)
    .executeTakeFirst()
  if (start === undefined || start.state === 'waiting' || start.document !== null) return undefined
  return start.reason ?? start.state
}

/** Returns true if this crawl has already found this page, by any address. */
export async function isFound(db: Database, sourceId: string, document: string): Promise<boolean> {
  const row = await db
    .selectFrom('crawl_queue')
    .select('position')
    .where('source_id', '=', sourceId)
    .where('document', '=', document)
    .where('state', 'in', pageStates)
    .executeTakeFirst()
  return row !== undefined
}

export async function findPage(
  db: Database,
  sourceId: string,
  by: { document: string } | { fetchedUrl: string } | { requestedUrl: string },
): Promise<StoredPage | undefined> {
  const pages = db.selectFrom('crawl_pages').selectAll().where('source_id', '=', sourceId)
  const found =
    'document' in by
      ? pages.where('document', '=', by.document)
      : 'fetchedUrl' in by
        ? pages.where('fetched_url', '=', by.fetchedUrl)
        : pages.where('requested_url', '=', by.requestedUrl)
  const row = await found.executeTakeFirst()
  return row && { ...row, links: linksOf(row.links) }
}

const linksSchema = Type.Array(Type.String())

function linksOf(text: string): string[] {
  const links = parseJsonColumn<unknown>(text, [])
  return matches(linksSchema, links) ? links : []
}

export async function storePage(db: Database, sourceId: string, page: StoredPage): Promise<void> {
  const { document, ...columns } = { ...page, links: JSON.stringify(page.links) }
  await db
    .insertInto('crawl_pages')
    .values({ source_id: sourceId, document, ...columns })
    .onConflict(conflict => conflict.columns(['source_id', 'document']).doUpdateSet(columns))
    .execute()
}

export async function storeText(db: Database, sourceId: string, text: StoredText): Promise<void> {
  const { document, ...columns } = text
  await db
    .insertInto('crawl_texts')
    .values({ source_id: sourceId, ...text })
    .onConflict(conflict => conflict.columns(['source_id', 'document']).doUpdateSet(columns))
    .execute()
}

export async function findText(
  db: Database,
  sourceId: string,
  document: string,
): Promise<StoredText | undefined> {
  return await db
    .selectFrom('crawl_texts')
    .select(['document', 'content', 'marks', 'left_out'])
    .where('source_id', '=', sourceId)
    .where('document', '=', document)
    .executeTakeFirst()
}

/** Returns the compared texts of a source, in the order in which its crawl found them. */
export async function comparedPages(db: Database, sourceId: string): Promise<ComparedPage[]> {
  const found = await db
    .selectFrom('crawl_queue')
    .select(['document', 'position'])
    .where('source_id', '=', sourceId)
    .where('state', 'in', pageStates)
    .execute()
  const positions = new Map(found.map(({ document, position }) => [document, position]))
  const pages: ComparedPage[] = []
  for (;;) {
    const rows = await db
      .selectFrom('crawl_texts')
      .select(['document', 'marks', 'left_out'])
      .where('source_id', '=', sourceId)
      .where('document', '>', pages.at(-1)?.document ?? '')
      .orderBy('document')
      .limit(rowsPerInsert)
      .execute()
    for (const { document, marks, left_out } of rows) pages.push({ document, marks, leftOut: left_out })
    if (rows.length < rowsPerInsert) break
  }
  const position = ({ document }: ComparedPage) => positions.get(document) ?? Infinity
  return pages.toSorted((one, other) => compare(position(one), position(other)))
}

function compare(one: number, other: number): number {
  return one === other ? 0 : one - other
}

/** Deletes a vanished page, unless it is stored for its links. */
export async function deletePage(db: Database, sourceId: string, document: string): Promise<void> {
  await db
    .deleteFrom('crawl_texts')
    .where('source_id', '=', sourceId)
    .where('document', '=', document)
    .execute()
  await db
    .deleteFrom('crawl_pages')
    .where('source_id', '=', sourceId)
    .where('document', '=', document)
    .where('document', 'not in', metDocuments(db, sourceId))
    .execute()
}

/** Selects the documents that this crawl has found: pages, and others with links. */
function metDocuments(db: Database, sourceId: string) {
  return db
    .selectFrom('crawl_queue')
    .select('document')
    .where('source_id', '=', sourceId)
    .where('document', 'is not', null)
    .$castTo<{ document: string }>()
}

/** Returns documents with chunks or a row that this crawl has not found. */
export async function vanishedDocuments(db: Database, sourceId: string): Promise<string[]> {
  const met = metDocuments(db, sourceId)
  const found = met.where('state', 'in', pageStates)
  const rows = await db
    .selectFrom('chunk_generations')
    .select('document')
    .where('source_id', '=', sourceId)
    .where('document', '!=', '')
    .where('document', 'not in', found)
    .union(
      db
        .selectFrom('crawl_pages')
        .select('document')
        .where('source_id', '=', sourceId)
        .where('document', 'not in', met),
    )
    .execute()
  return rows.map(({ document }) => document)
}

export interface CrawlTotals {
  chunks: number
  /** The SHA-256 of each page's content, by its address. */
  pageHashes: Record<string, string>
}

export async function totalsOf(db: Database, sourceId: string): Promise<CrawlTotals> {
  const rows = await db
    .selectFrom('crawl_pages')
    .select(['url', 'content_hash', 'chunks'])
    .where('source_id', '=', sourceId)
    .where('content_hash', '!=', noContent)
    .orderBy('url')
    .execute()
  return {
    chunks: rows.reduce((sum, { chunks }) => sum + chunks, 0),
    pageHashes: Object.fromEntries(rows.map(({ url, content_hash }) => [url, content_hash])),
  }
}

/** Returns the page of a crawled website under this address; undefined if there is none. */
export async function findDocument(db: Database, sourceId: string, url: string): Promise<string | undefined> {
  const page = await db
    .selectFrom('crawl_pages')
    .select('document')
    .where('source_id', '=', sourceId)
    .where('url', '=', url)
    .where('content_hash', '!=', noContent)
    .executeTakeFirst()
  return page?.document
}
