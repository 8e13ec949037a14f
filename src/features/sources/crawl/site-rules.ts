/** What a site's robots.txt and sitemaps say, read when a crawl begins or goes on. */
import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '#platform/errors.ts'
import type { Outbound } from '#platform/outbound/outbound.ts'
import { crawlLimits } from './crawl-limits.ts'
import type { CrawlThreads } from './crawl-threads.ts'
import { isSameOrigin, pageUrl } from './page-url.ts'
import { retryAfter } from './retry-after.ts'
import type { RobotsRules } from './robots.ts'

export interface SiteRules {
  robots: RobotsRules
  /** Milliseconds between the starts of two requests. */
  pauseMs: number
  /** Addresses of sitemaps on the site. */
  sitemaps: string[]
}

interface Needs {
  outbound: Outbound
  threads: CrawlThreads
  signal: AbortSignal
}

/** A sentence where the site could not tell its rules: as RFC 9309 has it, it is left alone then. */
export async function loadSiteRules(startUrl: string, needs: Needs): Promise<SiteRules | string> {
  const robots = await loadRobots(new URL('/robots.txt', startUrl).href, needs)
  if (typeof robots === 'string') return `The site's robots.txt could not be read. ${robots}`
  const usual = new URL('/sitemap.xml', startUrl).href
  if (robots.kind !== 'text') return { robots, pauseMs: 0, sitemaps: [usual] }
  const { crawlDelay, sitemaps } = await needs.threads.advice(robots, needs.signal)
  const own = sitemaps.flatMap(sitemap => pageUrl(sitemap, startUrl) ?? []).filter(onSite(startUrl))
  return {
    robots,
    pauseMs: Math.min(crawlDelay, crawlLimits.crawlDelayMs),
    sitemaps: own.length > 0 ? own : [usual],
  }
}

async function loadRobots(url: string, needs: Needs): Promise<RobotsRules | string> {
  for (const pause of [...crawlLimits.retryPausesMs, undefined]) {
    const answer = await askForRobots(url, needs)
    if ('kind' in answer) return answer
    const wait = answer.afterMs ?? pause
    if (pause === undefined || wait === undefined || wait > crawlLimits.retryAfterMs) return answer.problem
    await delay(wait, undefined, { signal: needs.signal })
  }
  throw new Error('The last attempt has no pause.')
}

async function askForRobots(
  url: string,
  { outbound, signal }: Needs,
): Promise<RobotsRules | { problem: string; afterMs?: number | undefined }> {
  try {
    const limits = { timeoutMs: crawlLimits.requestMs, maxBytes: 10 * crawlLimits.robotsBytes }
    const { status, headers, body } = await outbound.fetch(url, { ...limits, signal })
    if (status === 429 || status >= 500)
      return {
        problem: `It answered with status ${status}.`,
        afterMs: retryAfter(headers.get('retry-after'), Date.now()),
      }
    if (status < 200 || status > 299) return { kind: 'none' }
    const text = new TextDecoder().decode(body.subarray(0, crawlLimits.robotsBytes))
    return { kind: 'text', url, text }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    // Nothing changes a refusal but the operator.
    return { problem: error.message, ...(error.code === 'OUTBOUND_REFUSED' && { afterMs: Infinity }) }
  }
}

/** Pages that the site's sitemaps name, in their order, each once. What can't be read is left out. */
export async function sitemapPages(
  startUrl: string,
  { sitemaps }: SiteRules,
  needs: Needs,
): Promise<string[]> {
  const open = sitemaps.slice(0, crawlLimits.sitemaps)
  const pages = new Set<string>()
  for (let read = 0; read < crawlLimits.sitemaps; read += 1) {
    const next = open.shift()
    if (next === undefined) break
    const found = await loadSitemap(next, needs)
    const onThisSite = (urls: string[]) => urls.flatMap(url => pageUrl(url) ?? []).filter(onSite(startUrl))
    for (const page of onThisSite(found.pages)) pages.add(page)
    open.push(...onThisSite(found.sitemaps))
  }
  return [...pages].slice(0, crawlLimits.linksPerPage)
}

async function loadSitemap(url: string, { outbound, threads, signal }: Needs) {
  try {
    const limits = { timeoutMs: crawlLimits.requestMs, maxBytes: crawlLimits.sitemapBytes }
    const answer = await outbound.fetch(url, { ...limits, signal })
    if (answer.status === 200) return await threads.readSitemap(answer.text(), signal)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
  }
  return { pages: [], sitemaps: [] }
}

function onSite(startUrl: string): (url: string) => boolean {
  return url => isSameOrigin(url, startUrl)
}
