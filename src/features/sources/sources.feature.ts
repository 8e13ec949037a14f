import type { Feature } from '#features/feature.ts'
import type { KnowledgeFeature } from '#features/knowledge/knowledge.feature.ts'
import type { SqlService } from '#features/sql/sql.service.ts'
import type { Infrastructure } from '#infrastructure/infrastructure.ts'
import { browseUrl } from './browse-url.ts'
import { createCrawlThreads } from './crawl/crawl-threads.ts'
import type { RenderPage } from './crawl/render-visit.ts'
import { createHostGates } from './crawl/site/host-gates.ts'
import { createCrawlsService } from './crawls.service.ts'
import { createFetchedSourcesService } from './fetched-sources.service.ts'
import { fetchLimits } from './fetching/fetch-limits.ts'
import { createContentIndexer } from './fetching/index-content.ts'
import { createObtain } from './fetching/obtain.ts'
import type { SelectRows } from './fetching/run-query.ts'
import { createIngest, createIngestFetched } from './ingestion/ingest.ts'
import { createCrawlSourceJob } from './jobs/crawl-source.job.ts'
import { createDiscardUploadJob, discardJobName } from './jobs/discard-upload.job.ts'
import { createFetchSourceJob } from './jobs/fetch-source.job.ts'
import { createProcessSourceJob } from './jobs/process-source.job.ts'
import { createRemoveSourceJob } from './jobs/remove-source.job.ts'
import { crawlJobName, fetchJobName, processJobName, removeJobName } from './jobs/source-jobs.ts'
import { createPageReader } from './page-reader.service.ts'
import { registerSourceRoutes } from './sources.routes.ts'
import { createSourcesService } from './sources.service.ts'

interface Peers extends Pick<KnowledgeFeature, 'indexing' | 'changes' | 'embeddingOf'> {
  sql: SqlService
  renderPage: RenderPage
}

/** The sources of an agent's answers: uploads, websites, rows and addresses. */
export function createSources(infrastructure: Infrastructure, peers: Peers): Feature {
  const { transact, outbound, agentSecrets, documentWorkers, clock, ids, configuration } = infrastructure
  const { indexing, changes, embeddingOf, sql, renderPage } = peers
  const { maxUploadBytes } = configuration
  const workers = documentWorkers
  const select: SelectRows = (agent, statement, signal) =>
    sql.execute(agent, { ...statement, readOnly: true, onlySelect: true }, signal)

  const common = { transact, requireEmbedding: embeddingOf, clock, ids }
  const sources = createSourcesService({ ...common, indexing })
  const crawls = createCrawlsService({ ...common, outbound, bounds: configuration.crawlBounds })
  const fetched = createFetchedSourcesService({ ...common, select, outbound, agentSecrets })

  const processing = { indexing, embeddingOf, changes, transact, clock }
  const ingest = createIngest({ workers })
  const threads = createCrawlThreads(workers)
  const gates = createHostGates()
  const maxBytes = Math.min(fetchLimits.bytes, maxUploadBytes)
  const obtain = createObtain({ select, outbound, agentSecrets, maxBytes })
  const indexContent = createContentIndexer({ ingest: createIngestFetched({ workers }), indexing })
  const readPage = createPageReader(workers)
  return {
    routes: app => registerSourceRoutes(app, { sources, crawls, fetched, maxUploadBytes }),
    jobs: {
      [processJobName]: createProcessSourceJob({ ...processing, ingest }),
      [crawlJobName]: createCrawlSourceJob({ ...processing, outbound, threads, gates, renderPage }),
      [fetchJobName]: createFetchSourceJob({ ...processing, obtain, indexContent }),
      [discardJobName]: createDiscardUploadJob(),
      [removeJobName]: createRemoveSourceJob({ indexing, agentSecrets }),
    },
    tools(agent, _taken, turn) {
      const render = (url: string, signal: AbortSignal) => renderPage(agent.agentId, url, { signal })
      return [browseUrl({ outbound, toMarkdown: readPage, render, turn })]
    },
  }
}
