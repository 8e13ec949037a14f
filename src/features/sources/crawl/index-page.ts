import type { Kysely } from 'kysely'
import type { EmbeddingModel } from '#models/embeddings.ts'
import type { AgentTables } from '#storage/tables.ts'
import { continueDraft } from '../search/generations.ts'
import type { SourceTask } from '../search/index.worker.ts'
import { indexDraft } from '../search/index-draft.ts'
import { embeddingName } from '../search/provider-space.ts'
import type { SearchIndex } from '../search/search-index.ts'
import type { PageText } from './crawl.worker.ts'
import type { CrawlThreads } from './crawl-threads.ts'

interface Needs {
  place: Omit<SourceTask, 'document'>
  db: Kysely<AgentTables>
  /** Names the crawl: of another one there may be a draft, too, but not one to go on with. */
  jobId: string
  model: EmbeddingModel
  signal: AbortSignal
  threads: Pick<CrawlThreads, 'draftPage'>
  index: Pick<SearchIndex, 'indexNext' | 'finish'>
}

/**
 * Cuts, embeds and indexes a page, and then shows it instead of what was found in it before. Gives the number of its
 * chunks; undefined for a page that can't be cut. Of one that `isNew` nothing was found so far.
 */
export function createPageIndexer({ place, db, jobId, model, signal, threads, index }: Needs) {
  return async (document: string, page: PageText, isNew: boolean): Promise<number | undefined> => {
    const source = { ...place, document }
    const draft = `${jobId} ${page.hash} ${embeddingName(model)}`
    if (!(await continueDraft(db, source, draft))) {
      const isBuiltin = model.provider === 'builtin'
      const drafted = await threads.draftPage({ ...source, page, draft, isBuiltin, isNew }, signal)
      if (drafted === undefined) return undefined
      if (drafted.kind === 'shown') return drafted.chunks
    }
    await indexDraft({ source, db, index, model, signal, onProgress: async () => {} })
    return await index.finish({ ...source, embedding: embeddingName(model) }, signal)
  }
}
