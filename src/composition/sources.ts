import { createCrawlThreads } from '#features/sources/crawl/crawl-threads.ts'
import { createHostGates } from '#features/sources/crawl/site/host-gates.ts'
import { createCrawlsService } from '#features/sources/crawls.service.ts'
import { createFetchedSourcesService } from '#features/sources/fetched-sources.service.ts'
import { fetchLimits } from '#features/sources/fetching/fetch-limits.ts'
import { createContentIndexer } from '#features/sources/fetching/index-content.ts'
import { createObtain } from '#features/sources/fetching/obtain.ts'
import type { SelectRows } from '#features/sources/fetching/run-query.ts'
import { createIngest, createIngestFetched } from '#features/sources/ingestion/ingest.ts'
import { createCrawlSourceJob } from '#features/sources/jobs/crawl-source.job.ts'
import { createDiscardUploadJob, discardJobName } from '#features/sources/jobs/discard-upload.job.ts'
import { createFetchSourceJob } from '#features/sources/jobs/fetch-source.job.ts'
import { createProcessSourceJob } from '#features/sources/jobs/process-source.job.ts'
import { createRemoveSourceJob } from '#features/sources/jobs/remove-source.job.ts'
import {
  crawlJobName,
  fetchJobName,
  processJobName,
  removeJobName,
} from '#features/sources/jobs/source-jobs.ts'
import type { KnowledgeService } from '#features/sources/knowledge.service.ts'
import { createKnowledgeService } from '#features/sources/knowledge.service.ts'
import { createSearchIndex } from '#features/sources/search/search-index.ts'
import { registerSourceRoutes } from '#features/sources/sources.routes.ts'
import { createSourcesService } from '#features/sources/sources.service.ts'
import type { SqlService } from '#features/sql/sql.service.ts'
import type { App } from '#platform/http/app.ts'
import type { Configuration } from '../config.ts'
import type { Embeddings } from './embeddings.ts'
import type { Foundation } from './foundation.ts'
import type { Surroundings } from './surroundings.ts'

interface Needs {
  configuration: Configuration
  foundation: Foundation
  surroundings: Surroundings
  embeddings: Embeddings
  sql: SqlService
}

/** Composes the sources feature, and registers its routes and jobs. */
export function composeSources(app: App, needs: Needs): KnowledgeService {
  const { foundation, embeddings, configuration } = needs
  const { embeddingOf, embeddingNamed, changes } = embeddings
  const { transact, outbound, agentSecrets, documentWorkers, searchWorkers, handlers } = foundation
  const { clock, ids, log } = needs.surroundings

  const ingest = createIngest({ workers: documentWorkers })
  const index = createSearchIndex({ writers: documentWorkers, readers: searchWorkers })
  const { isExclusive } = foundation
  const knowledge = createKnowledgeService({ index, embeddingNamed, changes, isExclusive, log })
  const parts = { transact, requireEmbedding: embeddingOf, clock, ids }
  const sources = createSourcesService(parts)
  const crawls = createCrawlsService({ ...parts, outbound, bounds: configuration.crawlBounds })
  handlers.set(
    processJobName,
    createProcessSourceJob({ ingest, embeddingOf, index, changes, transact, clock }),
  )
  const threads = createCrawlThreads(documentWorkers)
  const gates = createHostGates()
  handlers.set(
    crawlJobName,
    createCrawlSourceJob({ embeddingOf, index, changes, outbound, threads, gates, transact, clock }),
  )
  const select: SelectRows = (agent, statement, signal) =>
    needs.sql.execute(agent, { ...statement, readOnly: true, onlySelect: true }, signal)
  const fetched = createFetchedSourcesService({ ...parts, select, outbound, agentSecrets })
  const obtain = createObtain({
    ...{ select, outbound, agentSecrets },
    maxBytes: Math.min(fetchLimits.bytes, configuration.maxUploadBytes),
  })
  const ingestFetched = createIngestFetched({ workers: documentWorkers })
  const indexContent = createContentIndexer({ ingest: ingestFetched, index })
  handlers.set(
    fetchJobName,
    createFetchSourceJob({ obtain, indexContent, embeddingOf, changes, transact, clock }),
  )
  handlers.set(discardJobName, createDiscardUploadJob())
  handlers.set(removeJobName, createRemoveSourceJob({ index, agentSecrets }))
  const { maxUploadBytes } = configuration
  registerSourceRoutes(app, { sources, crawls, fetched, knowledge, maxUploadBytes })
  return knowledge
}
