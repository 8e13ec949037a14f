import type { EmbeddingModel } from '#models/embeddings/embeddings.ts'
import type { VectorSpace } from '#storage/search-engine.ts'
import { builtinSpace } from './builtin-space.ts'

/** Names the embedding: chunks are found by the vectors of the one that they were embedded by. */
export function embeddingName({ provider, id }: Pick<EmbeddingModel, 'provider' | 'id'>): string {
  return `${provider}/${id}`
}

export const builtinName = embeddingName({ provider: 'builtin', id: builtinSpace.id })

/** Provider and model that a name is made of. */
export function namedEmbedding(name: string): { provider: string; id: string } {
  const [provider = '', ...rest] = name.split('/')
  return { provider, id: rest.join('/') }
}

/** The id of the space that the vectors of this embedding are in. */
export function spaceIdOf(name: string): string {
  return name === builtinName ? builtinSpace.id : name
}

/** The space of the vectors that this model makes, of which this is one. */
export function providerSpace(
  model: Pick<EmbeddingModel, 'provider' | 'id'>,
  { length: dimensions }: Float32Array,
): VectorSpace {
  return { id: embeddingName(model), dimensions, form: 'floats' }
}
