import { documentOfPage, findPage, findText, isFound, type QueuedUrl } from './crawl.repository.ts'
import type { ReadPage } from './crawl.worker.ts'
import { crawlLimits } from './crawl-limits.ts'
import { disallowed, type Site, type Visit } from './crawl-state.ts'
import { type FetchedPage, fetchPage, type Validators } from './fetch-page.ts'
import { ownPage } from './own-page.ts'
import { isSameOrigin } from './page/page-url.ts'
import { renderVisit } from './render-visit.ts'

export async function visitPage(site: Site, entry: QueuedUrl, signal: AbortSignal): Promise<Visit> {
  const { db, sourceId } = site
  if (await isFound(db, sourceId, documentOfPage(entry.url))) return { kind: 'same' }
  if (entry.position === 0) {
    const objection = await robotsObjection(site, entry.url, signal)
    if (objection !== undefined) return { kind: 'skipped', url: entry.url, reason: objection }
  }
  const visit = (url: string) => visitAddress(site, entry, url, signal)
  const visited = await visit(entry.url)
  return visited.kind === 'page' ? await ownPage(site, visited, visit, signal) : visited
}

async function visitAddress(
  site: Site,
  entry: QueuedUrl,
  address: string,
  signal: AbortSignal,
): Promise<Visit> {
  const { db, sourceId, gates, outbound, rules } = site
  const fetched = await fetchPage(address, {
    fetch: outbound.fetchFunction(),
    gates,
    pauseMs: rules.pauseMs,
    requestMs: crawlLimits.requestMs,
    signal,
    validatorsOf: url => (address === entry.url ? validatorsOf(site, url) : Promise.resolve(undefined)),
    objectionTo: url => objectionTo(site, entry, url, signal),
  })
  if (fetched.kind === 'unchanged') {
    const stored = await findPage(db, sourceId, { fetchedUrl: fetched.url })
    if (stored !== undefined) return { kind: 'unchanged', stored }
    return { kind: 'failed', url: fetched.url, reason: 'It answered that it has not changed, unasked.' }
  }
  if (fetched.kind !== 'page') {
    site.traffic.bytes += fetched.bytes ?? 0
    return fetched
  }
  site.traffic.bytes += fetched.body.length
  const read = await readFetched(site, entry, fetched, signal)
  const rendered = read && (await renderVisit(site, fetched, read, signal))
  if (rendered === undefined) return visited(site, fetched, read)
  if (rendered.kind !== 'page') return rendered
  if (rendered.url !== fetched.url) {
    const reason = await objectionTo(site, entry, rendered.url, signal)
    if (reason !== undefined) return { kind: 'skipped', url: fetched.url, reason }
  }
  return visited(site, rendered, await readFetched(site, entry, rendered, signal))
}

/** Returns the validators of a page whose passages are still up to date. */
async function validatorsOf({ db, sourceId, embedding }: Site, url: string): Promise<Validators | undefined> {
  const stored = await findPage(db, sourceId, { fetchedUrl: url })
  if (stored === undefined || stored.embedding !== embedding) return undefined
  if ((await findText(db, sourceId, stored.document)) === undefined) return undefined
  return { etag: stored.etag, lastModified: stored.last_modified }
}

async function readFetched(
  { patterns, chunking, cutsPages: isCut, threads, repeats }: Site,
  { position }: QueuedUrl,
  { body, contentType, robotsTag, url }: FetchedPage,
  signal: AbortSignal,
): Promise<ReadPage | undefined> {
  const raw = { body, contentType, robotsTag, url, patterns, chunking, isCut }
  // The start page comes first, so it keeps the blocks that it shares with others.
  return await threads.readPage({ ...raw, repeated: position === 0 ? '' : repeats.soFar() }, signal)
}

function visited(site: Site, fetched: FetchedPage, read: ReadPage | undefined): Visit {
  const { url } = fetched
  if (read === undefined)
    return { kind: 'failed', url, reason: 'It is no text, or takes too much time or memory to read.' }
  if (read.omitted === undefined) site.repeats.note(read.marks)
  return { kind: 'page', url, fetched, read }
}

async function objectionTo(
  site: Site,
  entry: QueuedUrl,
  url: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (!isSameOrigin(url, site.startUrl)) {
    const advice = entry.position === 0 ? ' Crawl that one instead.' : ''
    return `It redirects to another site, ${new URL(url).origin}.${advice}`
  }
  const [isWanted] = await site.threads.wanted(site.patterns, [url], signal)
  if (!isWanted && entry.position !== 0) return 'It redirects to an address that the patterns leave out.'
  return await robotsObjection(site, url, signal)
}

async function robotsObjection(
  { rules: { robots }, threads }: Site,
  url: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const [isAllowed] = await threads.allowed(robots, [url], signal)
  return isAllowed ? undefined : disallowed
}
