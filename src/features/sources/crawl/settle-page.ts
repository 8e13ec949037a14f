/** What becomes of a visit: chunks, the page, its links; written such that a crash in between does no harm. */
import { inTransaction } from '#platform/transaction.ts'
import { requireAttempt } from '../search/generations.ts'
import { updateSource } from '../sources.repository.ts'
import type { QueuedUrl, QueueState, StoredPage } from './crawl.repository.ts'
import {
  addToQueue,
  countQueue,
  documentOfPage,
  findPage,
  isFound,
  settleInQueue,
  storePage,
  unknownUrls,
} from './crawl.repository.ts'
import type { PageText } from './crawl.worker.ts'
import { crawlLimits } from './crawl-limits.ts'
import type { NoPage } from './fetch-page.ts'
import type { Site, Visit, VisitedPage } from './visit-page.ts'
import { disallowed } from './visit-page.ts'

export interface Settling extends Site {
  /** Names the run: another one's writes are refused. */
  attempt: string
  maxPages: number
  maxDepth: number
  signal: AbortSignal
  /** Puts the text of a page into the indexes, and tells the number of its chunks; undefined if it can't be cut. */
  indexPage(document: string, page: PageText): Promise<number | undefined>
  /** Further addresses that the start page leads to. */
  sitemapPages(): Promise<string[]>
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
  const further = entry.position === 0 ? await site.sitemapPages() : []
  const added = await newEntries(site, entry, [...settled.links, ...further])
  const { db, sourceId, attempt } = site
  const { state, reason = null, document = null, page } = settled
  await inTransaction(db, async transaction => {
    await requireAttempt(transaction, { sourceId, attempt })
    if (page !== undefined) await storePage(transaction, sourceId, page)
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
  if (read.noIndex) return { state: 'skipped', reason: 'It asks not to be indexed.', links }
  const document = documentOfPage(url)
  if (await isFound(db, sourceId, document)) return { state: 'same', links }

  const stored = await findPage(db, sourceId, { document })
  const state = stored?.content_hash === read.hash ? 'unchanged' : 'changed'
  const isIndexed = state === 'unchanged' && stored?.embedding === embedding
  const { title, text, hash } = read
  const chunks = isIndexed ? stored.chunks : await site.indexPage(document, { title, text, hash })
  if (chunks === undefined)
    return { state: 'failed', reason: 'It takes too much time or memory to read.', links }
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
async function keptOrFailed({ db, sourceId }: Settling, entry: QueuedUrl, visit: NoPage): Promise<Settled> {
  const { reason } = visit
  const stored =
    (await findPage(db, sourceId, { requestedUrl: entry.url })) ??
    (await findPage(db, sourceId, { fetchedUrl: visit.url })) ??
    (await findPage(db, sourceId, { document: documentOfPage(entry.url) }))
  if (stored === undefined || entry.position === 0) return { state: 'failed', reason, links: [] }
  const { document, links } = stored
  if (await isFound(db, sourceId, document)) return { state: 'same', links }
  return { state: 'kept', reason: `${reason} Its last good copy is kept.`, document, links }
}

/** The links that are new, as far as there is room for them. */
async function newEntries(site: Settling, entry: QueuedUrl, links: readonly string[]) {
  const depth = entry.depth + 1
  if (links.length === 0 || depth > site.maxDepth) return []
  const { db, sourceId, threads, rules, signal } = site
  const { known, next, told } = await countQueue(db, sourceId)
  const room = Math.max(0, crawlLimits.addresses(site.maxPages) - known)
  const urls = (await unknownUrls(db, sourceId, [...new Set(links)])).slice(0, room)
  const allowed = await threads.allowed(rules.robots, urls, signal)
  let tellable = crawlLimits.failuresTold - told
  return urls
    .flatMap((url, at) => {
      if (allowed[at]) return [{ url, depth }]
      tellable -= 1
      return tellable >= 0 ? [{ url, depth, state: 'skipped' as const, reason: disallowed }] : []
    })
    .map((added, at) => ({ ...added, position: next + at }))
}
