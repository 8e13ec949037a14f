import type { WorkerPool } from '#platform/workers/worker-pool.ts'
import { WorkerCrashed, WorkerTimeout } from '#platform/workers/worker-pool.ts'
import type { DraftPage, RawPage, ReadPage } from './crawl.worker.ts'
import { crawlLimits } from './crawl-limits.ts'
import type { RobotsAdvice, RobotsRules, RobotsText } from './robots.ts'
import type { Sitemap } from './sitemap.ts'
import type { UrlPatterns } from './url-patterns.ts'

const worker = new URL('./crawl.worker.ts', import.meta.url)

/** All work on what strangers wrote, in threads that can be killed. */
export interface CrawlThreads {
  /** Undefined for a page that is no text, or takes too much time or memory to read. */
  readPage(page: RawPage, signal: AbortSignal): Promise<ReadPage | undefined>
  /** Which of the addresses may be read. */
  allowed(rules: RobotsRules, urls: readonly string[], signal: AbortSignal): Promise<boolean[]>
  /** Which of the addresses the patterns let through. */
  wanted(patterns: UrlPatterns, urls: readonly string[], signal: AbortSignal): Promise<boolean[]>
  advice(rules: RobotsText, signal: AbortSignal): Promise<RobotsAdvice>
  readSitemap(text: string, signal: AbortSignal): Promise<Sitemap>
  /** False for a page that takes too much time or memory to cut. */
  draftPage(page: DraftPage, signal: AbortSignal): Promise<boolean>
}

export function createCrawlThreads(workers: WorkerPool): CrawlThreads {
  function run<Result>(name: string, argument: unknown, signal: AbortSignal): Promise<Result> {
    return workers.run<Result>({ file: worker, name, argument, signal, timeoutMs: crawlLimits.readMs })
  }

  /** The same, with what is to be taken for the answer where the thread had to be killed. */
  async function runOr<Result>(
    name: string,
    argument: unknown,
    signal: AbortSignal,
    otherwise: Result,
  ): Promise<Result> {
    try {
      return await run<Result>(name, argument, signal)
    } catch (error) {
      if (error instanceof WorkerTimeout || error instanceof WorkerCrashed) return otherwise
      throw error
    }
  }

  return {
    readPage: (page, signal) => runOr('readPage', page, signal, undefined),
    async allowed(rules, urls, signal) {
      if (rules.kind === 'none' || urls.length === 0) return urls.map(() => true)
      const none = urls.map(() => false)
      return await runOr('decideByRobots', { rules, urls }, signal, none)
    },
    wanted: (patterns, urls, signal) =>
      runOr(
        'matchPatterns',
        { patterns, urls },
        signal,
        urls.map(() => false),
      ),
    advice: (rules, signal) => runOr('readAdvice', rules, signal, { crawlDelay: 0, sitemaps: [] }),
    readSitemap: (text, signal) => runOr('readSitemap', text, signal, { pages: [], sitemaps: [] }),
    draftPage: (page, signal) => runOr('draftPage', page, signal, false),
  }
}
