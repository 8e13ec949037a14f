import { chunkingOf } from '#documents/chunking/chunking-form.ts'
import type { SourceEvents } from '#features/knowledge/knowledge.events.ts'
import { timestamp } from '#platform/clock.ts'
import { conflict, invalid, notFound } from '#platform/errors.ts'
import type { ChangeContext } from '#platform/jobs/jobs.ts'
import type { Outbound } from '#platform/outbound/outbound.ts'
import { parseTarget } from '#platform/outbound/target-url.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { resetQueue } from './crawl/crawl.repository.ts'
import { pageUrl } from './crawl/page/page-url.ts'
import { patternProblem } from './crawl/site/url-patterns.ts'
import { addSourceJob, crawlJobName, sourceJob } from './jobs/source-jobs.ts'
import { isInWork } from './source-status.ts'
import { findSource, insertSource, updateSource } from './sources.repository.ts'
import type { CrawlBounds, CrawlConfig, NewCrawl, Source } from './sources.schema.ts'
import { storableName } from './storable-name.ts'

interface Dependencies extends ChangeContext<SourceEvents> {
  /** Throws the reason if the agent's documents cannot be embedded, such as MODEL_NOT_CONFIGURED. */
  requireEmbedding(agentId: string): Promise<unknown>
  outbound: Pick<Outbound, 'requirePermitted'>
  bounds: CrawlBounds
}

/** The default bounds of a crawl, within the operator's limits. */
const usual: CrawlBounds = { maxPages: 50, maxDepth: 3 }

export function createCrawlsService({
  transact,
  requireEmbedding,
  outbound,
  clock,
  ids,
  bounds,
}: Dependencies) {
  return {
    bounds,

    /** Creates a source for a website; a job crawls it. Throws if the request or the settings are invalid. */
    async create(agent: AgentHandle, crawl: NewCrawl): Promise<Source & { config: CrawlConfig }> {
      const now = timestamp(clock)
      const config = configOf(crawl, bounds, now)
      const name = storableName(crawl.name)
      if (name === '') throw invalid('name', 'must not be empty')
      await outbound.requirePermitted(config.url, 'url')
      await requireEmbedding(agent.agentId)
      const status = 'crawling' as const
      const times = { created_at: now, updated_at: now }
      const source = { id: ids.record(), type: 'crawl' as const, name, status, progress: 0, config, ...times }
      await transact(agent, async (transaction, outbox) => {
        await insertSource(transaction, source)
        await resetQueue(transaction, source.id, config.url)
        await outbox.add(sourceJob(crawlJobName, source.id))
      })
      return source
    },

    /** Starts a new visit of all pages; each stays searchable until it has changed. */
    async repeat(agent: AgentHandle, id: string): Promise<Source> {
      await requireEmbedding(agent.agentId)
      return await transact(agent, async (transaction, outbox) => {
        const source = await findSource(transaction, id)
        if (source === undefined || !('maxPages' in source.config)) throw notFound('Source')
        if (isInWork(source.status)) {
          const work = source.status === 'updating' ? 'embedded by another model' : 'crawled'
          throw conflict(`This website is being ${work}. Wait until its status is ready.`)
        }
        const now = timestamp(clock)
        const config = { ...source.config, startedAt: now }
        const status = 'crawling' as const
        await updateSource(transaction, id, { status, error: null, progress: 0, config, updated_at: now })
        await resetQueue(transaction, id, config.url)
        await addSourceJob(outbox, crawlJobName, id)
        return { ...source, status }
      })
    },
  }
}

export type CrawlsService = ReturnType<typeof createCrawlsService>

function configOf(crawl: NewCrawl, bounds: CrawlBounds, now: string): CrawlConfig {
  return {
    url: startUrl(crawl.url),
    maxPages: crawl.maxPages ?? Math.min(usual.maxPages, bounds.maxPages),
    maxDepth: crawl.maxDepth ?? Math.min(usual.maxDepth, bounds.maxDepth),
    includePatterns: usable('includePatterns', crawl.includePatterns),
    excludePatterns: usable('excludePatterns', crawl.excludePatterns),
    useSitemap: crawl.useSitemap ?? false,
    render: crawl.render ?? 'auto',
    startedAt: now,
    ...chunkingOf(crawl),
  }
}

function startUrl(text: string): string {
  const target = parseTarget(text)
  if (!target.ok) throw invalid('url', target.reason)
  const url = pageUrl(target.url.href)
  if (url === undefined) throw invalid('url', 'is too long')
  return url
}

function usable(field: string, patterns: readonly string[] = []): string[] {
  for (const pattern of patterns) {
    const problem = patternProblem(pattern)
    if (problem !== undefined) throw invalid(field, `${JSON.stringify(pattern)} ${problem}`)
  }
  return [...patterns]
}
