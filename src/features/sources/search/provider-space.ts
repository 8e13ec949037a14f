import type { EmbeddingModel } from '#models/embeddings.ts'
import type { VectorSpace } from '#storage/search-engine.ts'

/** Names the embedding: chunks that were embedded by another one are found by their words only. */
export function embeddingName({ provider, id }: EmbeddingModel): string {
  return `${provider}/${id}`
}

/** The space of the vectors that this model makes, of which this is one. */
export function providerSpace(model: EmbeddingModel, { length: dimensions }: Float32Array): VectorSpace {
  return { id: embeddingName(model), dimensions, form: 'floats' }
}
