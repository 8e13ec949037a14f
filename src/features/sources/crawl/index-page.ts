import { hash as digest } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { IndexingService, SourceRun } from '#features/knowledge/indexing.service.ts'
import type { EmbeddingModel } from '#models/embeddings/embeddings.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { PageText } from './crawl.worker.ts'
import type { CrawlThreads } from './crawl-threads.ts'

interface Dependencies {
  run: SourceRun
  db: Kysely<AgentTables>
  /** The job of the crawl: a draft of another crawl must not be continued. */
  jobId: string
  model: EmbeddingModel
  signal: AbortSignal
  threads: Pick<CrawlThreads, 'draftPage' | 'addPages'>
  indexing: Pick<IndexingService, 'replace' | 'requireRun'>
}

export interface PageIndexer {
  /** Must be called first in a transaction of this run: until its end, no other run can begin. */
  requireRun(transaction: Kysely<AgentTables>): Promise<void>
  /**
   * Chunks, embeds and indexes a page, then replaces its former content. Returns the number of chunks;
   * undefined for a page that cannot be chunked.
   */
  replace(page: IndexedPage): Promise<number | undefined>
  /**
   * Indexes and shows chunked pages that are new to the source. Returns their numbers of chunks; undefined
   * after a failure.
   */
  add(pages: readonly IndexedPage[]): Promise<number[] | undefined>
}

export interface IndexedPage extends PageText {
  document: string
}

export function createPageIndexer(dependencies: Dependencies): PageIndexer {
  const { run, db, jobId, model, signal, threads, indexing } = dependencies
  return {
    requireRun: transaction => indexing.requireRun(transaction, run),
    async replace({ document, hash, content, chunks: cut, leftOut }) {
      const chunks = await indexing.replace({
        run,
        document,
        db,
        model,
        content: `${jobId} ${hash} ${digest('sha256', leftOut)}`,
        draft: async task => {
          const page = { ...task, content, leftOut: cut === undefined ? leftOut : undefined }
          return (await threads.draftPage(page, signal)) ? undefined : ''
        },
        signal,
      })
      return typeof chunks === 'number' ? chunks : undefined
    },
    async add(pages) {
      const added = pages.map(({ document, content }) => ({ document, content }))
      return await threads.addPages({ ...run, pages: added }, signal)
    },
  }
}
