/** What becomes of a visit: chunks, the page, its links; written such that a crash in between does no harm. */
import { inTransaction } from '#platform/transaction.ts'
import { requireAttempt } from '../search/generations.ts'
import { updateSource } from '../sources.repository.ts'
import type { NewEntry, QueuedUrl, QueueState, StoredPage } from './crawl.repository.ts'
import {
  addToQueue,
  countQueue,
  documentOfPage,
  findPage,
  isFound,
  noContent,
  settleInQueue,
  storePage,
  unknownUrls,
} from './crawl.repository.ts'
import type { PageText } from './crawl.worker.ts'
import { crawlLimits } from './crawl-limits.ts'
import type { NoPage } from './fetch-page.ts'
import { boundedLinks } from './page-url.ts'
import type { SitemapPages } from './site-rules.ts'
import type { Site, Visit, VisitedPage } from './visit-page.ts'
import { disallowed } from './visit-page.ts'

export interface Settling extends Site {
  /** Names the run: another one's writes are refused. */
  attempt: string
  maxPages: number
  maxDepth: number
  signal: AbortSignal
  /** Puts the text of a page into the indexes, and tells the number of its chunks; undefined if it can't be cut. Of one that `isNew` nothing was found so far. */
  indexPage(document: string, page: PageText, isNew: boolean): Promise<number | undefined>
  /** Further addresses that the start page leads to; undefined where the site's sitemap is not wanted. */
  sitemapPages(): Promise<SitemapPages | undefined>
}

interface Settled {
  state: QueueState
  reason?: string
  document?: string
  /** To be stored with it. */
  page?: StoredPage
  links: readonly string[]
}

/** Writes down what the visit has found; gives what the queue now says of the address. */
export async function settlePage(
  site: Settling,
  entry: QueuedUrl,
  visit: Visit,
): Promise<Pick<Settled, 'state' | 'reason'>> {
  const settled = await settledOf(site, entry, visit)
  const sitemap = entry.position === 0 && settled.document !== undefined ? await readSitemap(site) : undefined
  const added = await newEntries(site, entry, settled.links, sitemap)
  const { db, sourceId, attempt } = site
  const { state, reason = null, document = null, page } = settled
  await inTransaction(db, async transaction => {
    await requireAttempt(transaction, { sourceId, attempt })
    for (const stored of [page, sitemap?.stored])
      if (stored !== undefined) await storePage(transaction, sourceId, stored)
    await settleInQueue(transaction, sourceId, entry.position, { state, reason, document })
    await addToQueue(transaction, sourceId, added)
    const { pages, waiting } = await countQueue(transaction, sourceId)
    const progress = pages / Math.max(1, Math.min(site.maxPages, pages + waiting))
    await updateSource(transaction, sourceId, { progress: Math.min(progress, lastProgress) })
  })
  return settled
}

/** Until the crawl has ended. */
const lastProgress = 0.99

async function settledOf(site: Settling, entry: QueuedUrl, visit: Visit): Promise<Settled> {
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

async function settledPage(site: Settling, entry: QueuedUrl, visit: VisitedPage): Promise<Settled> {
  const { db, sourceId, embedding } = site
  const { read, fetched, url } = visit
  const links = read.noFollow ? [] : read.links
  const document = documentOfPage(url)
  if (read.noIndex) {
    const page = leadingOn({ url, requested_url: entry.url, fetched_url: fetched.url, links })
    return { state: 'skipped', reason: 'It asks not to be indexed.', document, page, links }
  }
  if (await isFound(db, sourceId, document)) return { state: 'same', links }

  const stored = await findPage(db, sourceId, { document })
  const state = stored?.content_hash === read.hash ? 'unchanged' : 'changed'
  const isIndexed = state === 'unchanged' && stored?.embedding === embedding
  const { title, text, hash, chunks: cut } = read
  const isNew = stored === undefined
  const chunks = isIndexed
    ? stored.chunks
    : await site.indexPage(document, { title, text, hash, chunks: cut }, isNew)
  if (chunks === undefined)
    return await keptOrFailed(site, entry, { url, reason: 'It takes too much time or memory to read.' })
  const page: StoredPage = {
    document,
    url,
    requested_url: entry.url,
    fetched_url: fetched.url,
    etag: fetched.etag,
    last_modified: fetched.lastModified,
    content_hash: hash,
    embedding,
    links,
    chunks,
  }
  return { state, document, page, links }
}

/** A page that could not be read this time stays as it was, and leads where it led. */
async function keptOrFailed(
  { db, sourceId }: Settling,
  entry: QueuedUrl,
  visit: Pick<NoPage, 'url' | 'reason'>,
): Promise<Settled> {
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

/** What is no page, but remembered for its links: when it is in trouble, it leads where it led. */
function leadingOn(page: Pick<StoredPage, 'url' | 'requested_url' | 'fetched_url' | 'links'>): StoredPage {
  const unknown = { etag: null, last_modified: null, content_hash: noContent, embedding: '', chunks: 0 }
  return { ...page, ...unknown, document: documentOfPage(page.url) }
}

interface ReadSitemap {
  stored: StoredPage
  entry: Pick<NewEntry, 'url' | 'state' | 'reason' | 'document'>
}

async function readSitemap(site: Settling): Promise<ReadSitemap | undefined> {
  const found = await site.sitemapPages()
  if (found === undefined) return undefined
  const { url, pages, problem } = found
  const document = documentOfPage(url)
  const former =
    problem === undefined || problem.isGone ? undefined : await findPage(site.db, site.sourceId, { document })
  const links = boundedLinks([...pages, ...(former?.links ?? [])], () => true)
  return {
    stored: leadingOn({ url, requested_url: url, fetched_url: url, links }),
    entry:
      problem === undefined
        ? { url, document, state: 'sitemap' }
        : { url, document, state: 'failed', reason: `The sitemap could not be read. ${problem.reason}` },
  }
}

/** The links that are new, as far as there is room for them. */
async function newEntries(
  site: Settling,
  entry: QueuedUrl,
  ofPage: readonly string[],
  sitemap: ReadSitemap | undefined,
): Promise<NewEntry[]> {
  const { db, sourceId, threads, rules, signal } = site
  const depth = entry.depth + 1
  const links = depth > site.maxDepth ? [] : [...ofPage, ...(sitemap?.stored.links ?? [])]
  if (links.length === 0 && sitemap === undefined) return []
  const { known, next, told } = await countQueue(db, sourceId)
  const room = Math.max(0, crawlLimits.addresses(site.maxPages) - known)
  const isNew = (url: string) => url !== sitemap?.entry.url
  const urls = (await unknownUrls(db, sourceId, [...new Set(links)].filter(isNew))).slice(0, room)
  const allowed = await threads.allowed(rules.robots, urls, signal)
  let tellable = crawlLimits.failuresTold - told
  const ofLinks = urls.flatMap((url, at) => {
    if (allowed[at]) return [{ url, depth }]
    tellable -= 1
    return tellable >= 0 ? [{ url, depth, state: 'skipped' as const, reason: disallowed }] : []
  })
  const all = sitemap === undefined ? ofLinks : [{ ...sitemap.entry, depth: entry.depth }, ...ofLinks]
  return all.map((added, at) => ({ ...added, position: next + at }))
}
