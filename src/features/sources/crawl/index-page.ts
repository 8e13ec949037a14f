import type { Kysely } from 'kysely'
import type { EmbeddingModel } from '#models/embeddings/embeddings.ts'
import type { AgentTables } from '#storage/tables.ts'
import { continueDraft } from '../indexing/generations.ts'
import type { SourceTask } from '../indexing/index.worker.ts'
import { indexDraft } from '../indexing/index-draft.ts'
import { embeddingName } from '../indexing/provider-space.ts'
import type { SearchIndex } from '../search/search-index.ts'
import type { PageText } from './crawl.worker.ts'
import type { CrawlThreads } from './crawl-threads.ts'

interface Dependencies {
  place: Omit<SourceTask, 'document'>
  db: Kysely<AgentTables>
  /** Names the crawl: a draft of another crawl must not be continued. */
  jobId: string
  model: EmbeddingModel
  signal: AbortSignal
  threads: Pick<CrawlThreads, 'draftPage' | 'addPages'>
  index: Pick<SearchIndex, 'indexNext' | 'finish'>
}

export interface PageIndexer {
  /**
   * Chunks, embeds and indexes a page, and then shows it instead of its former content. Returns the number of its chunks;
   * undefined for a page that can't be chunked.
   */
  replace(page: IndexedPage): Promise<number | undefined>
  /**
   * Indexes and shows pages that are new to the source and already chunked. Returns their numbers of chunks; undefined if
   * that fails.
   */
  add(pages: readonly IndexedPage[]): Promise<number[] | undefined>
}

export interface IndexedPage extends PageText {
  document: string
}

export function createPageIndexer({
  place,
  db,
  jobId,
  model,
  signal,
  threads,
  index,
}: Dependencies): PageIndexer {
  return {
    async replace({ document, hash, content }) {
      const source = { ...place, document }
      const draft = `${jobId} ${hash} ${embeddingName(model)}`
      if (!(await continueDraft(db, source, draft))) {
        const isBuiltin = model.provider === 'builtin'
        if (!(await threads.draftPage({ ...source, content, draft, isBuiltin }, signal))) return undefined
      }
      await indexDraft({ source, db, index, model, signal, onProgress: async () => {} })
      return await index.finish({ ...source, embedding: embeddingName(model) }, signal)
    },
    async add(pages) {
      const added = pages.map(({ document, content }) => ({ document, content }))
      return await threads.addPages({ ...place, pages: added }, signal)
    },
  }
}
