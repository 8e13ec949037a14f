import { LRUCache } from 'lru-cache'
import { chunkingOf } from '#documents/chunking/chunking-form.ts'
import type { IndexingService, SourceRun } from '#features/knowledge/indexing.service.ts'
import type { SourceEvents } from '#features/knowledge/knowledge.events.ts'
import type { KnowledgeFeature } from '#features/knowledge/knowledge.feature.ts'
import { embeddingName } from '#models/embeddings/embedding-name.ts'
import type { EmbeddingModel } from '#models/embeddings/embeddings.ts'
import { type Clock, timestamp } from '#platform/clock.ts'
import { type JobContext, type JobHandler, JobYields, type Transact } from '#platform/jobs/jobs.ts'
import { presentable } from '#platform/jobs/presentable.ts'
import type { Outbound } from '#platform/outbound/outbound.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { countQueue, deletePage, failuresOf, totalsOf, vanishedDocuments } from '../crawl/crawl.repository.ts'
import { crawlLimits } from '../crawl/crawl-limits.ts'
import { type Spending, spendingOf } from '../crawl/crawl-spending.ts'
import type { Settling } from '../crawl/crawl-state.ts'
import type { CrawlThreads } from '../crawl/crawl-threads.ts'
import { createPageIndexer } from '../crawl/index-page.ts'
import { leaveOutRepeated } from '../crawl/leave-out-repeated.ts'
import { createRepeats } from '../crawl/page/page-blocks.ts'
import type { RenderPage } from '../crawl/render-visit.ts'
import { type CrawlEnd, runCrawl } from '../crawl/run-crawl.ts'
import type { HostGates } from '../crawl/site/host-gates.ts'
import { createSiteRules, type SiteRules, sitemapPages } from '../crawl/site/site-rules.ts'
import { updateSource } from '../sources.repository.ts'
import type { CrawlConfig, Source } from '../sources.schema.ts'
import { sourceOfJob } from './source-jobs.ts'
import { createOutcomes } from './source-outcomes.ts'

interface Dependencies {
  embeddingOf(agentId: string): Promise<EmbeddingModel>
  indexing: Pick<IndexingService, 'begin' | 'requireRun' | 'replace' | 'remove'>
  outbound: Outbound
  /** Returns the threads for this agent's crawls. */
  threads(agentId: string): CrawlThreads
  gates: HostGates
  renderPage: RenderPage
  changes: Pick<KnowledgeFeature['changes'], 'follow'>
  transact: Transact<SourceEvents>
  clock: Clock
  /** Max time that a crawl works before other jobs (ms). */
  turnMs?: number
}

type Context = JobContext<AgentHandle>
type CrawledSource = Source & { config: CrawlConfig }

/**
 * Crawls a website, for the first time or again. Results are stored page by page, so that the next run
 * continues an interrupted one.
 */
export function createCrawlSourceJob(dependencies: Dependencies): JobHandler<AgentHandle> {
  const { finish, fail } = createOutcomes(dependencies)
  const rulesOf = createSiteRules(dependencies)

  async function crawl(context: Context, source: CrawledSource): Promise<void> {
    const { agent, signal } = context
    const run = await dependencies.indexing.begin(agent, source.id)
    const threads = dependencies.threads(agent.agentId)
    threads.prepare(signal)
    const rules = await rulesOf(source, { threads, signal })
    if (typeof rules === 'string') return await failCrawl(agent, source, rules)
    const spending = spendingOf(source.config, dependencies.clock)
    const end = await visitAll(context, source, rules, { run, spending })
    if (end.kind === 'turn over') {
      await updateSource(agent.db, source.id, { config: spending.noted() })
      throw new JobYields()
    }
    if (end.kind === 'no start') return await failCrawl(agent, source, end.reason)
    const config = await outcomeOf(agent, source, end.isWhole, timestamp(dependencies.clock))
    if (config.pageCount === 0) return await failCrawl(agent, source, config.failedPages?.[0]?.reason ?? '')
    const { chunks } = await totalsOf(agent.db, source.id)
    await finish(agent, source, { chunks, config })
    // The embedding might have changed during the crawl.
    await dependencies.changes.follow(agent)
  }

  async function visitAll(
    context: Context,
    { config }: CrawledSource,
    rules: SiteRules,
    { run, spending }: { run: SourceRun; spending: Spending },
  ): Promise<CrawlEnd> {
    const { agent, signal, jobId, progressed } = context
    const { outbound, gates, turnMs = crawlLimits.turnMs } = dependencies
    const [{ db }, threads] = [agent, dependencies.threads(agent.agentId)]
    const model = await dependencies.embeddingOf(agent.agentId)
    const { url: startUrl, maxPages, maxDepth, useSitemap, render } = config
    const patterns = { include: config.includePatterns, exclude: config.excludePatterns }
    const site: Settling = {
      ...{ db, ...run, startUrl, patterns, rules, outbound, threads, gates },
      ...{ namedAddresses: new LRUCache({ max: namedRemembered }), repeats: createRepeats() },
      ...{ maxPages, maxDepth, render, chunking: chunkingOf(config), signal, traffic: spending.traffic },
      renderPage: (url, until) => dependencies.renderPage(agent.agentId, url, { signal: until }),
      embedding: embeddingName(model),
      cutsPages: model.provider === 'builtin' && config.lastCrawledAt === undefined,
      index: createPageIndexer({ run, db, jobId, model, signal, threads, indexing: dependencies.indexing }),
      sitemapPages: async () =>
        useSitemap
          ? await sitemapPages(startUrl, { rules, patterns }, { outbound, threads, gates, signal })
          : undefined,
    }
    const end = await runCrawl(site, { isOver: spending.isOver, turnMs, progressed })
    if (end.kind !== 'done') return end
    if (end.isWhole) await removeVanished(context, run, dependencies.indexing)
    return (await leaveOutRepeated(site, { turnMs, progressed })) ? end : { kind: 'turn over' }
  }

  const failCrawl = async (agent: AgentHandle, source: CrawledSource, reason: string) =>
    await fail(agent, source, ...(await startFailure(agent, source, reason)))

  return {
    lane: 'documents',
    async run(context) {
      const source = await sourceOfJob(context)
      if (source === undefined || !isCrawled(source)) return
      await crawl(context, source).catch(error => {
        throw presentable(error, context.signal)
      })
    },
    async onFailed(context, error) {
      const source = await sourceOfJob(context)
      context.log.error({ sourceId: source?.id, error }, 'a website could not be crawled')
      if (source !== undefined)
        await fail(context.agent, source, `This website could not be crawled: ${error}`)
    },
  }
}

async function startFailure({ db }: AgentHandle, { id, config }: CrawledSource, reason: string) {
  const problem = `The start page ${config.url} could not be crawled. ${reason}`.trim()
  return [problem, { config: { ...config, failedPages: await failuresOf(db, id) } }] as const
}

function isCrawled(source: Source): source is CrawledSource {
  return 'maxPages' in source.config
}

/** Removes pages that are gone, or without a link to them. */
async function removeVanished(
  { agent: { db }, signal }: Context,
  run: SourceRun,
  indexing: Pick<IndexingService, 'remove'>,
): Promise<void> {
  for (const document of await vanishedDocuments(db, run.sourceId)) {
    await indexing.remove({ ...run, document }, signal)
    await deletePage(db, run.sourceId, document)
  }
}

/** Returns the result of the crawl for the source. */
async function outcomeOf(
  { db }: AgentHandle,
  { id, config }: CrawledSource,
  isWhole: boolean,
  lastCrawledAt: string,
): Promise<CrawlConfig> {
  const { pageHashes } = await totalsOf(db, id)
  const { changed, unchanged, waiting } = await countQueue(db, id)
  const isFirst = config.lastCrawledAt === undefined
  return {
    ...config,
    pageCount: Object.keys(pageHashes).length,
    lastCrawledAt,
    pageHashes,
    ...(!isFirst && { changedPages: changed, unchangedPages: unchanged }),
    failedPages: [
      ...unvisited(isWhole, waiting, config).map(reason => ({ url: config.url, reason })),
      ...(await failuresOf(db, id)),
    ],
  }
}

function unvisited(isWhole: boolean, waiting: number, { maxPages }: CrawlConfig): string[] {
  if (!isWhole) return [cutShort]
  if (waiting === 0) return []
  const addresses = waiting === 1 ? 'One more address was' : `${waiting} more addresses were`
  return [`${addresses} not visited: this crawl keeps at most ${maxPages} pages (\`maxPages\`).`]
}

/** Max remembered pages that others name as their own: as many as concurrent visits. */
const namedRemembered = 20

const cutShort = 'The rest of the site was not visited: it took too long, or brought too much.'
