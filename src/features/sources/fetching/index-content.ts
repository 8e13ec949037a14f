import { type IndexingService, newRun } from '#features/knowledge/indexing.service.ts'
import type { EmbeddingModel } from '#models/embeddings/embeddings.ts'
import type { JobContext } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { type IngestFetched, refusalOf } from '../ingestion/ingest.ts'
import { updateSource } from '../sources.repository.ts'
import type { FetchedConfig, Source } from '../sources.schema.ts'
import { forgetLastCopy } from './last-copy.ts'
import type { Content } from './obtain.ts'

interface Dependencies {
  ingest: IngestFetched
  indexing: Pick<IndexingService, 'replace'>
}

interface Work {
  context: JobContext<AgentHandle>
  source: Source & { config: FetchedConfig }
  content: Content
  /** The content's hash. */
  hash: string
  model: EmbeddingModel
}

/**
 * Chunks, embeds and indexes fetched content, then replaces the former content. Returns the number of chunks,
 * or the reason why the content is unreadable.
 */
export function createContentIndexer({ ingest, indexing }: Dependencies) {
  return async ({ context, source, content, hash, model }: Work): Promise<number | string> => {
    const { agent, signal, jobId, progressed } = context
    const { db } = agent
    const { chunk_size, overlap, method } = source.config
    const { fetched, secrets } = content
    const given = { fetched, secrets, chunking: { chunk_size, overlap, method } }
    await forgetLastCopy(db, source.id)
    return await indexing.replace({
      run: newRun(agent, source.id),
      db,
      model,
      content: `${jobId} ${hash}`,
      async draft(task) {
        const refusal = refusalOf(await ingest({ ...task, ...given }, signal))
        return refusal && `What was fetched cannot be used. ${refusal}`
      },
      signal,
      progressed,
      onProgress: async progress => void (await updateSource(db, source.id, { progress })),
    })
  }
}
