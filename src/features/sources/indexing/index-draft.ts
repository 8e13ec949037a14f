import type { Kysely } from 'kysely'
import type { EmbeddingModel, TextEmbeddingModel } from '#models/embeddings/embeddings.ts'
import { AppError } from '#platform/errors.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { SearchIndex } from '../search/search-index.ts'
import { countDraft, nextUnindexed } from './generations.ts'
import type { SourceTask } from './index.worker.ts'
import { providerSpace } from './provider-space.ts'

interface Draft {
  source: SourceTask
  /** The agent's database. */
  db: Kysely<AgentTables>
  index: Pick<SearchIndex, 'indexNext'>
  model: EmbeddingModel
  signal: AbortSignal
  /** The share of the chunks that is indexed. */
  onProgress(share: number): Promise<void>
}

/**
 * Chunks that a provider embeds before they are written: a failed attempt loses at most these, and no more are held in
 * memory.
 */
const chunksPerEmbedding = 192

/** Indexes the chunks of a source's draft, part by part, continuing where the previous attempt stopped. */
export async function indexDraft({ source, db, index, model, signal, onProgress }: Draft): Promise<void> {
  const { stored, indexed } = await countDraft(db, source)
  for (let done = indexed; done < stored; ) {
    const embedded = model.provider === 'builtin' ? undefined : await embedNext(db, source, model, signal)
    const count = await index.indexNext(source, embedded, signal)
    if (count === 0) throw new AppError('INTERNAL_ERROR', 'Chunks of this source have vanished.')
    done += count
    await onProgress(done / stored)
  }
}

async function embedNext(
  db: Kysely<AgentTables>,
  source: SourceTask,
  model: TextEmbeddingModel,
  signal: AbortSignal,
) {
  const chunks = await nextUnindexed(db, source, chunksPerEmbedding)
  const texts = chunks.map(({ content }) => content)
  const vectors = await model.embed(texts, { signal, purpose: 'document' })
  const [first] = vectors
  return first && { space: providerSpace(model, first), vectors }
}
