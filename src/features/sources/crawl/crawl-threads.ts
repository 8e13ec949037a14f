import { AppError } from '#platform/errors.ts'
import { createFairSlots, type FairSlots } from '#platform/workers/fair-slots.ts'
import {
  WorkerCrashed,
  type WorkerPool,
  type WorkerTask,
  WorkerTimeout,
} from '#platform/workers/worker-pool.ts'
import type { RawPage, RawSitemap, ReadPage } from './crawl.worker.ts'
import { crawlLimits } from './crawl-limits.ts'
import type { ComparedPage } from './page/page-blocks.ts'
import type { RobotsAdvice, RobotsRules, RobotsText } from './site/robots.ts'
import type { Sitemap } from './site/sitemap.ts'
import type { UrlPatterns } from './site/url-patterns.ts'
import type { AddPages, DraftPage } from './write-page.worker.ts'

const reader = new URL('./crawl.worker.ts', import.meta.url)
const writer = new URL('./write-page.worker.ts', import.meta.url)

/** Runs all work on foreign content, in threads that can be killed. */
export interface CrawlThreads {
  /** Starts the threads, which takes a while, during the requests for robots.txt and sitemaps. */
  prepare(signal: AbortSignal): void
  /** Moves the body into the thread. Undefined for non-text, or above the limits of time or memory. */
  readPage(page: RawPage, signal: AbortSignal): Promise<ReadPage | undefined>
  /** Returns for each address if robots.txt allows it. */
  allowed(rules: RobotsRules, urls: readonly string[], signal: AbortSignal): Promise<boolean[]>
  /** Returns for each address if the patterns match it. */
  wanted(patterns: UrlPatterns, urls: readonly string[], signal: AbortSignal): Promise<boolean[]>
  advice(argument: { rules: RobotsText; startUrl: string }, signal: AbortSignal): Promise<RobotsAdvice>
  /** Reads a sitemap; undefined above the limits of time or memory. */
  readSitemap(sitemap: RawSitemap, signal: AbortSignal): Promise<Sitemap | undefined>
  /** Returns the pages to chunk again; none above the limits of time or memory. */
  comparePages(pages: readonly ComparedPage[], signal: AbortSignal): Promise<Omit<ComparedPage, 'marks'>[]>
  /** Chunks and stores a page; returns false above the limits of time or memory. */
  draftPage(page: DraftPage, signal: AbortSignal): Promise<boolean>
  /** Returns the number of chunks of each page; undefined above the limits of time or memory. */
  addPages(pages: AddPages, signal: AbortSignal): Promise<number[] | undefined>
}

/** The threads of each agent's crawls. Agents take turns, so that none waits for all pages of another. */
export function createCrawlThreads(workers: WorkerPool): (agentId: string) => CrawlThreads {
  const { threadTasks, threadTasksPerAgent, writesPerAgent } = crawlLimits
  const reading = createFairSlots(threadTasks, threadTasksPerAgent)
  // Writing makes room for more to read, so it does not wait for reading.
  const writing = createFairSlots(threadTasks, writesPerAgent)
  return agentId => threadsOf(agentId, { workers, reading, writing })
}

function threadsOf(
  agentId: string,
  { workers, reading, writing }: { workers: WorkerPool; reading: FairSlots; writing: FairSlots },
): CrawlThreads {
  async function run<Result>(
    task: Pick<WorkerTask, 'name' | 'argument' | 'transfer'>,
    signal: AbortSignal,
  ): Promise<Result> {
    const release = await reading.take(agentId, signal)
    const limits = { signal, timeoutMs: crawlLimits.readMs }
    return await workers.run<Result>({ file: reader, ...task, ...limits }).finally(release)
  }

  /** Runs the work; returns the fallback if a text is too much for its reader, or for the thread. */
  async function runOr<Result>(
    name: string,
    argument: unknown,
    signal: AbortSignal,
    otherwise: Result,
    transfer: ArrayBuffer[] = [],
  ): Promise<Result> {
    try {
      return await run<Result>({ name, argument, transfer }, signal)
    } catch (error) {
      if (signal.aborted || error instanceof AppError) throw error
      return otherwise
    }
  }

  async function write<Result>(
    name: string,
    argument: unknown,
    signal: AbortSignal,
    otherwise: Result,
  ): Promise<Result> {
    const release = await writing.take(agentId, signal)
    try {
      const task = { file: writer, name, argument, signal, timeoutMs: crawlLimits.readMs }
      return await workers.run<Result>(task)
    } catch (error) {
      // Other errors come from the database.
      if (error instanceof WorkerTimeout || error instanceof WorkerCrashed) return otherwise
      throw error
    } finally {
      release()
    }
  }

  return {
    prepare(signal) {
      // The outcome of the loading shows later, with the pages.
      for (let thread = 0; thread < crawlLimits.threadTasksPerAgent; thread += 1)
        runOr<void>('prepareThread', undefined, signal, undefined).catch(() => {})
    },
    readPage: (page, signal) => runOr('readPage', page, signal, undefined, [page.body.buffer]),
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
    comparePages: (pages, signal) => runOr('comparePages', pages, signal, []),
    draftPage: (page, signal) => write('draftPage', page, signal, false),
    addPages: (pages, signal) => write<number[] | undefined>('addPages', pages, signal, undefined),
  }
}
