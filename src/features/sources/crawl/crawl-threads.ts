import { AppError } from '#platform/errors.ts'
import type { FairSlots } from '#platform/workers/fair-slots.ts'
import { createFairSlots } from '#platform/workers/fair-slots.ts'
import type { WorkerPool } from '#platform/workers/worker-pool.ts'
import { WorkerCrashed, WorkerTimeout } from '#platform/workers/worker-pool.ts'
import type { DraftedPage, DraftPage, RawPage, RawSitemap, ReadPage } from './crawl.worker.ts'
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
  advice(argument: { rules: RobotsText; startUrl: string }, signal: AbortSignal): Promise<RobotsAdvice>
  /** Undefined for one that takes too much time or memory to read. */
  readSitemap(sitemap: RawSitemap, signal: AbortSignal): Promise<Sitemap | undefined>
  /** Undefined for a page that takes too much time or memory to cut. */
  draftPage(page: DraftPage, signal: AbortSignal): Promise<DraftedPage | undefined>
}

/** The threads as each agent's crawls use them: agents take turns, so that nobody waits for all the pages of another. */
export function createCrawlThreads(workers: WorkerPool): (agentId: string) => CrawlThreads {
  const slots = createFairSlots(crawlLimits.threadTasks, crawlLimits.threadTasksPerAgent)
  return agentId => threadsOf(agentId, { workers, slots })
}

function threadsOf(
  agentId: string,
  { workers, slots }: { workers: WorkerPool; slots: FairSlots },
): CrawlThreads {
  async function run<Result>(name: string, argument: unknown, signal: AbortSignal): Promise<Result> {
    const release = await slots.take(agentId, signal)
    const task = { file: worker, name, argument, signal, timeoutMs: crawlLimits.readMs }
    return await workers.run<Result>(task).finally(release)
  }

  /** The same, with what is to be taken for the answer where a text is too much for its reader, or for the thread. */
  async function runOr<Result>(
    name: string,
    argument: unknown,
    signal: AbortSignal,
    otherwise: Result,
  ): Promise<Result> {
    try {
      return await run<Result>(name, argument, signal)
    } catch (error) {
      if (signal.aborted || error instanceof AppError) throw error
      return otherwise
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
    advice: (argument, signal) => runOr('readAdvice', argument, signal, { crawlDelay: 0, sitemaps: [] }),
    readSitemap: (sitemap, signal) => runOr('readSitemap', sitemap, signal, undefined),
    async draftPage(page, signal) {
      try {
        return await run<DraftedPage>('draftPage', page, signal)
      } catch (error) {
        // Its other errors are those of the database.
        if (error instanceof WorkerTimeout || error instanceof WorkerCrashed) return undefined
        throw error
      }
    },
  }
}
