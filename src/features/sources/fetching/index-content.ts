import type { EmbeddingModel } from '#models/embeddings/embeddings.ts'
import { AppError } from '#platform/errors.ts'
import { randomIds } from '#platform/ids.ts'
import type { JobContext } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { continueDraft } from '../indexing/generations.ts'
import { indexDraft } from '../indexing/index-draft.ts'
import { embeddingName } from '../indexing/provider-space.ts'
import type { IngestFetched } from '../ingestion/ingest.ts'
import type { SearchIndex } from '../search/search-index.ts'
import { updateSource } from '../sources.repository.ts'
import type { FetchedConfig, Source } from '../sources.schema.ts'
import { forgetLastCopy } from './last-copy.ts'
import type { Content } from './obtain.ts'

/** Share of the progress when what was fetched is cut; the rest is embedding and indexing its chunks. */
const progressRead = 0.2

interface Dependencies {
  ingest: IngestFetched
  index: Pick<SearchIndex, 'indexNext' | 'finish'>
}

interface Work {
  context: JobContext<AgentHandle>
  source: Source & { config: FetchedConfig }
  content: Content
  /** Tells this content from any other. */
  hash: string
  model: EmbeddingModel
}

/**
 * Chunks, embeds and indexes fetched content, and then shows it instead of the former content. Returns the number of
 * chunks, or why the content can't be read.
 */
export function createContentIndexer({ ingest, index }: Dependencies) {
  return async ({ context, source, content, hash, model }: Work): Promise<number | string> => {
    const { agent, signal, jobId } = context
    const { db, path: databasePath } = agent
    const place = { databasePath, sourceId: source.id, attempt: randomIds.record() }
    const report = async (progress: number) => void (await updateSource(db, source.id, { progress }))
    const draft = `${jobId} ${hash} ${embeddingName(model)}`
    await forgetLastCopy(db, source.id)
    if (!(await continueDraft(db, place, draft))) {
      const { chunk_size, overlap, method } = source.config
      const chunking = { chunk_size, overlap, method }
      const { fetched, secrets } = content
      const isBuiltin = model.provider === 'builtin'
      const read = await ingest({ ...place, fetched, secrets, chunking, draft, isBuiltin }, signal)
      if (read.kind === 'unreadable') return `What was fetched cannot be used. ${read.reason}`
      if (read.kind === 'unavailable') throw new AppError('INTERNAL_ERROR', read.reason)
    }
    await report(progressRead)
    const onProgress = (share: number) => report(progressRead + share * (1 - progressRead))
    await indexDraft({ source: place, db, index, model, signal, onProgress })
    return await index.finish({ ...place, embedding: embeddingName(model) }, signal)
  }
}
