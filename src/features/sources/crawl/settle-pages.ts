/** Stores the results of visits: chunks, pages, their links. A crash in between is harmless. */
import { inTransaction } from '#platform/transactions/transaction.ts'
import { raiseProgress } from '../sources.repository.ts'
import {
  addToQueue,
  countQueue,
  documentOfPage,
  findPage,
  findText,
  isFound,
  noContent,
  type QueuedUrl,
  type StoredPage,
  type StoredText,
  settleInQueue,
  storePage,
  storeText,
} from './crawl.repository.ts'
import type { ReadSitemap, Settled, Settling, Visited, VisitedPage } from './crawl-state.ts'
import type { NoPage } from './fetch-page.ts'
import { newEntries } from './new-entries.ts'
import { type NewPage, newPagesAmong } from './new-pages.ts'
import { boundedTogether } from './page/page-url.ts'

/** Stores the results of the first of these consecutive visits; returns their number. */
export async function settlePages(site: Settling, visited: readonly Visited[]): Promise<number> {
  const settled = await settledAmong(site, visited)
  const [start] = settled.filter(({ entry, document }) => entry.position === 0 && document !== undefined)
  const sitemap = start && (await readSitemap(site))
  const added = await newEntries(site, settled, sitemap)
  const { db, sourceId } = site
  await inTransaction(db, async transaction => {
    await site.index.requireRun(transaction)
    for (const stored of [...settled.map(({ page }) => page), sitemap?.stored])
      if (stored !== undefined) await storePage(transaction, sourceId, stored)
    for (const { text } of settled) if (text !== undefined) await storeText(transaction, sourceId, text)
    for (const { entry, state, reason = null, document = null } of settled)
      await settleInQueue(transaction, sourceId, entry.position, { state, reason, document })
    await addToQueue(transaction, sourceId, added)
    const { pages, waiting } = await countQueue(transaction, sourceId)
    const progress = pages / Math.max(1, Math.min(site.maxPages, pages + waiting))
    await raiseProgress(transaction, sourceId, Math.min(progress, lastProgress))
  })
  return settled.length
}

/** Settles visits. New pages, the majority of a first crawl, are stored together; others one by one. */
async function settledAmong(site: Settling, visited: readonly Visited[]): Promise<Settled[]> {
  const pages = await newPagesAmong(site, visited)
  const added = pages.length > 0 ? await site.index.add(pages) : undefined
  if (added !== undefined) return pages.map((page, at) => settledNew(site, page, added[at] ?? 0))
  const [first] = visited
  return first === undefined ? [] : [{ entry: first.entry, ...(await settledOf(site, first)) }]
}

function settledNew({ embedding }: Settling, { entry, visit, document }: NewPage, chunks: number): Settled {
  const page = pageOf(entry, visit, { document, embedding, chunks })
  return {
    entry,
    state: 'changed',
    document,
    page,
    links: page.links,
    text: textOf(document, visit),
    ...remarkOn(visit),
  }
}

/** The max progress before the end of the crawl. */
const lastProgress = 0.99

async function settledOf(site: Settling, { entry, visit }: Visited): Promise<Omit<Settled, 'entry'>> {
  switch (visit.kind) {
    case 'same':
      return { state: 'same', links: [] }
    case 'page':
      return await settledPage(site, entry, visit)
    case 'unchanged': {
      const { document, links } = visit.stored
      if (await isFound(site.db, site.sourceId, document)) return { state: 'same', links }
      const page = { ...visit.stored, requested_url: entry.url }
      return { state: 'unchanged', document, page, links }
    }
    case 'failed':
      return await keptOrFailed(site, entry, visit)
    default:
      return { state: visit.kind, reason: visit.reason, links: [] }
  }
}

async function settledPage(
  site: Settling,
  entry: QueuedUrl,
  visit: VisitedPage,
): Promise<Omit<Settled, 'entry'>> {
  const { db, sourceId, embedding } = site
  const { read, fetched, url } = visit
  const links = linksOf(visit)
  const document = documentOfPage(url)
  if (read.omitted !== undefined) {
    const page = leadingOn({ url, requested_url: entry.url, fetched_url: fetched.url, links })
    return { state: 'skipped', reason: fetched.unfinished ?? read.omitted, document, page, links }
  }
  if (await isFound(db, sourceId, document)) return { state: 'same', links }

  const stored = await findPage(db, sourceId, { document })
  const state = stored?.content_hash === read.hash ? 'unchanged' : 'changed'
  if (fetched.unfinished !== undefined && stored !== undefined && state === 'changed') {
    const kept = await keptOrFailed(site, entry, { url, reason: fetched.unfinished })
    if (kept.state === 'kept') return kept
  }
  const isCurrent = state === 'unchanged' && stored?.embedding === embedding
  const isIndexed = isCurrent && (await findText(db, sourceId, document)) !== undefined
  const chunks = isIndexed ? stored.chunks : await site.index.replace({ document, ...read })
  if (chunks === undefined)
    return await keptOrFailed(site, entry, { url, reason: 'It takes too much time or memory to read.' })
  const page = pageOf(entry, visit, { document, embedding, chunks })
  const text = isIndexed ? {} : { text: textOf(document, visit) }
  return { state, document, page, links, ...text, ...remarkOn(visit) }
}

/** Returns a remark on a page with a placeholder, which counts as a page but is not complete. */
function remarkOn({ fetched: { unfinished } }: VisitedPage): Pick<Settled, 'reason'> {
  return unfinished === undefined ? {} : { reason: `${unfinished} It is kept as it was then.` }
}

function pageOf(
  entry: QueuedUrl,
  visit: VisitedPage,
  indexed: Pick<StoredPage, 'document' | 'embedding' | 'chunks'>,
): StoredPage {
  const { url, fetched, read } = visit
  return {
    ...indexed,
    url,
    requested_url: entry.url,
    fetched_url: fetched.url,
    etag: fetched.etag,
    last_modified: fetched.lastModified,
    content_hash: read.hash,
    links: linksOf(visit),
  }
}

function textOf(document: string, { read: { whole, marks, leftOut } }: VisitedPage): StoredText {
  return { document, content: whole, marks, left_out: leftOut }
}

function linksOf({ read: { noFollow, links } }: VisitedPage): string[] {
  return noFollow ? [] : links
}

/** Settles a page that could not be read this time: it stays unchanged, and its links still count. */
async function keptOrFailed(
  { db, sourceId }: Settling,
  entry: QueuedUrl,
  visit: Pick<NoPage, 'url' | 'reason'>,
): Promise<Omit<Settled, 'entry'>> {
  const { reason } = visit
  const stored =
    (await findPage(db, sourceId, { requestedUrl: entry.url })) ??
    (await findPage(db, sourceId, { fetchedUrl: visit.url })) ??
    (await findPage(db, sourceId, { document: documentOfPage(entry.url) }))
  if (stored === undefined || entry.position === 0) return { state: 'failed', reason, links: [] }
  const { document, links } = stored
  if (await isFound(db, sourceId, document)) return { state: 'same', links }
  if (stored.content_hash === noContent) return { state: 'failed', reason, document, links }
  return { state: 'kept', reason: `${reason} Its last good copy is kept.`, document, links }
}

/** Returns a document without a page, remembered for its links, which count during failures. */
function leadingOn(page: Pick<StoredPage, 'url' | 'requested_url' | 'fetched_url' | 'links'>): StoredPage {
  const unknown = { etag: null, last_modified: null, content_hash: noContent, embedding: '', chunks: 0 }
  return { ...page, ...unknown, document: documentOfPage(page.url) }
}

async function readSitemap(site: Settling): Promise<ReadSitemap | undefined> {
  const found = await site.sitemapPages()
  if (found === undefined) return undefined
  const { url, pages, problem } = found
  const document = documentOfPage(url)
  const former =
    problem === undefined || problem.isGone ? undefined : await findPage(site.db, site.sourceId, { document })
  const links = boundedTogether([pages, former?.links ?? []])
  return {
    stored: leadingOn({ url, requested_url: url, fetched_url: url, links }),
    entry:
      problem === undefined
        ? { url, document, state: 'sitemap' }
        : {
            url: problem.url,
            document,
            state: 'failed',
            reason: `The sitemap could not be read. ${problem.reason}`,
          },
  }
}
