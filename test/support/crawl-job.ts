import { createIndexing } from '#features/knowledge/indexing.service.ts'
import { type CrawlThreads, createCrawlThreads } from '#features/sources/crawl/crawl-threads.ts'
import { createHostGates, type HostGates } from '#features/sources/crawl/site/host-gates.ts'
import { createCrawlSourceJob } from '#features/sources/jobs/crawl-source.job.ts'
import { crawlJobName } from '#features/sources/jobs/source-jobs.ts'
import { builtinEmbedding } from '#models/embeddings/builtin-embedding.ts'
import { systemClock } from '#platform/clock.ts'
import { AppError } from '#platform/errors.ts'
import type { TestApp } from './build-app.ts'

/**
 * Crawls with other threads in the place of some, until `restore` is called.
 * @param turnMs how long a crawl works until others have a turn, in milliseconds: with 0 it settles once in each.
 */
export function changeCrawls(
  { service }: TestApp,
  change: (threads: CrawlThreads) => Partial<CrawlThreads> = () => ({}),
  turnMs?: number,
) {
  const { handlers, outbound, transact, documentWorkers } = service.infrastructure
  const threadsOf = createCrawlThreads(documentWorkers)
  const starts: number[] = []
  const job = createCrawlSourceJob({
    embeddingOf: async () => ({ provider: 'builtin', id: builtinEmbedding.id }),
    changes: { follow: async () => {} },
    indexing: createIndexing(documentWorkers),
    outbound,
    transact,
    clock: systemClock,
    ...(turnMs !== undefined && { turnMs }),
    threads: agentId => ({ ...threadsOf(agentId), ...change(threadsOf(agentId)) }),
    gates: timedGates(starts),
    renderPage: async () => {
      throw new AppError('BROWSER_UNAVAILABLE', 'These crawls have no browser.')
    },
  })
  const former = handlers.get(crawlJobName)
  handlers.set(crawlJobName, job)
  return {
    job,
    /** When each request began that keeps a pause after the one before, by `performance.now()`. */
    starts,
    restore: () => former && handlers.set(crawlJobName, former),
  }
}

/** Requests take their time to reach a site, and not each the same: when they begin is known here alone. */
function timedGates(starts: number[]): HostGates {
  const gates = createHostGates()
  return {
    ...gates,
    pass: (origin, wait, work) =>
      gates.pass(origin, wait, () => {
        if (wait.pauseMs > 0) starts.push(performance.now())
        return work()
      }),
  }
}
