/** The rules of a site's robots.txt and sitemaps, read when a crawl begins or continues. */
import { setTimeout as delay } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { AppError } from '#platform/errors.ts'
import type { Outbound } from '#platform/outbound/outbound.ts'
import { retryAfter } from '#platform/outbound/retry-after.ts'
import { crawlLimits } from '../crawl-limits.ts'
import type { CrawlThreads } from '../crawl-threads.ts'
import { boundedTogether } from '../page/page-url.ts'
import type { HostGates } from './host-gates.ts'
import type { RobotsRules } from './robots.ts'
import { readSiteFile } from './site-file.ts'
import type { Sitemap } from './sitemap.ts'
import type { UrlPatterns } from './url-patterns.ts'

export interface SiteRules {
  robots: RobotsRules
  /** The min time between the starts of two requests (ms). */
  pauseMs: number
  /** Addresses of sitemaps that robots.txt names on the site. */
  sitemaps: string[]
}

interface Dependencies {
  outbound: Outbound
  threads: CrawlThreads
  gates: HostGates
  signal: AbortSignal
}

/** Max crawls with remembered rules of sites, and the time in memory (ms). */
const rememberedRules = 50
const rulesMs = 30 * 60_000

/** Loads the rules of a crawl's site and remembers them, so that each turn need not request them. */
export function createSiteRules({ outbound, gates }: Pick<Dependencies, 'outbound' | 'gates'>) {
  const remembered = new LRUCache<string, SiteRules>({ max: rememberedRules, ttl: rulesMs })
  return async (
    { id, config }: { id: string; config: { url: string; startedAt: string } },
    { threads, signal }: Pick<Dependencies, 'threads' | 'signal'>,
  ): Promise<SiteRules | string> => {
    const crawl = `${id} ${config.startedAt}`
    const known = remembered.get(crawl)
    if (known !== undefined) return known
    const rules = await loadSiteRules(config.url, { outbound, threads, gates, signal })
    if (typeof rules !== 'string') remembered.set(crawl, rules)
    return rules
  }
}

/** Loads the rules; returns a sentence if the site could not send them: RFC 9309 then forbids a crawl. */
async function loadSiteRules(startUrl: string, dependencies: Dependencies): Promise<SiteRules | string> {
  const robots = await loadRobots(new URL('/robots.txt', startUrl).href, dependencies)
  if (typeof robots === 'string') return `The site's robots.txt could not be read. ${robots}`
  if (robots.kind !== 'text') return { robots, pauseMs: 0, sitemaps: [] }
  const { crawlDelay, sitemaps } = await dependencies.threads.advice(
    { rules: robots, startUrl },
    dependencies.signal,
  )
  return { robots, pauseMs: Math.min(crawlDelay, crawlLimits.crawlDelayMs), sitemaps }
}

async function loadRobots(url: string, dependencies: Dependencies): Promise<RobotsRules | string> {
  for (const pause of [...crawlLimits.retryPausesMs, undefined]) {
    const answer = await requestRobots(url, dependencies)
    if ('kind' in answer) return answer
    const wait = answer.afterMs ?? pause
    if (pause === undefined || wait === undefined || wait > crawlLimits.retryAfterMs) return answer.problem
    await delay(wait, undefined, { signal: dependencies.signal })
  }
  throw new Error('The last attempt has no pause.')
}

async function requestRobots(
  url: string,
  { outbound, gates, signal }: Dependencies,
): Promise<RobotsRules | { problem: string; afterMs?: number | undefined }> {
  try {
    // A site's robots.txt can be elsewhere (RFC 9309), and counts up to its limit.
    const limits = { pauseMs: 0, maxBytes: crawlLimits.robotsBytes, mayLeave: true }
    const { status, headers, body } = await readSiteFile(url, { ...limits, outbound, gates, signal })
    if (status === 429 || status >= 500)
      return {
        problem: `It answered with status ${status}.`,
        afterMs: retryAfter(headers.get('retry-after'), Date.now()),
      }
    if (status < 200 || status > 299) return { kind: 'none' }
    return { kind: 'text', url, text: new TextDecoder().decode(body) }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    // Only the operator can change a refusal.
    return { problem: error.message, ...(error.code === 'OUTBOUND_REFUSED' && { afterMs: Infinity }) }
  }
}

export interface SitemapPages {
  /** The address of the first sitemap. */
  url: string
  /** The pages in order, each once. */
  pages: string[]
  /** The unreadable sitemap with its reason: the first, or a missing one if there is no other problem. */
  problem?: { url: string; reason: string; isGone: boolean }
}

/** Returns pages of the site's sitemaps that match the patterns. */
export async function sitemapPages(
  startUrl: string,
  { rules, patterns }: { rules: SiteRules; patterns: UrlPatterns },
  dependencies: Dependencies,
): Promise<SitemapPages> {
  const load = (address: string) =>
    loadSitemap(address, { startUrl, patterns, pauseMs: rules.pauseMs }, dependencies)
  const begun = rules.sitemaps.length > 0 ? undefined : await firstUsual(startUrl, load)
  // Grows by the sitemaps in other sitemaps. Each is read once, even if named repeatedly, or by itself.
  const met = new Set(begun === undefined ? rules.sitemaps : [begun.url])
  const [url = ''] = met
  const pages: string[][] = []
  let problem: SitemapPages['problem']
  for (const next of met.values().take(crawlLimits.sitemaps)) {
    const found = next === begun?.url ? begun.found : await load(next)
    if ('reason' in found) {
      if (problem === undefined || problem.isGone) problem = { url: next, ...found }
      continue
    }
    pages.push(found.pages)
    for (const sitemap of found.sitemaps) met.add(sitemap)
  }
  return { url, pages: boundedTogether(pages), ...(problem && { problem }) }
}

type Loaded = Sitemap | { reason: string; isGone: boolean }

/** Usual paths of sitemaps that robots.txt does not name. */
const [usualPath, ...otherPaths] = ['/sitemap.xml', '/sitemap_index.xml', '/wp-sitemap.xml'] as const

/** Returns the first that exists, else the first of all. */
async function firstUsual(startUrl: string, load: (url: string) => Promise<Loaded>) {
  const loaded = async (path: string) => {
    const url = new URL(path, startUrl).href
    const found = await load(url)
    return { url, found, isMissing: 'reason' in found && found.isGone }
  }
  const first = await loaded(usualPath)
  for (const path of first.isMissing ? otherPaths : []) {
    const other = await loaded(path)
    if (!other.isMissing) return other
  }
  return first
}

async function loadSitemap(
  url: string,
  { startUrl, patterns, pauseMs }: { startUrl: string; patterns: UrlPatterns; pauseMs: number },
  { outbound, gates, threads, signal }: Dependencies,
): Promise<Loaded> {
  try {
    const limits = { pauseMs, maxBytes: crawlLimits.sitemapBytes, mayLeave: false }
    const { status, body } = await readSiteFile(url, { ...limits, outbound, gates, signal })
    if (status !== 200)
      return { reason: `It answered with status ${status}.`, isGone: status === 404 || status === 410 }
    const sitemap = await threads.readSitemap({ body, startUrl, patterns }, signal)
    if (sitemap?.problem !== undefined) return { reason: sitemap.problem, isGone: true }
    return sitemap ?? { reason: 'It takes too much time or memory to read.', isGone: false }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { reason: error.message, isGone: false }
  }
}
