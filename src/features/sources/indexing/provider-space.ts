import type { EmbeddingModel } from '#models/embeddings/embeddings.ts'
import type { VectorSpace } from '#storage/search/search-engine.ts'
import { builtinSpace } from './builtin-space.ts'

/** The name of the embedding: chunks are found by the vectors of the one they were embedded with. */
export function embeddingName({ provider, id }: Pick<EmbeddingModel, 'provider' | 'id'>): string {
  return `${provider}/${id}`
}

export const builtinName = embeddingName({ provider: 'builtin', id: builtinSpace.id })

/** The provider and model in a name. */
export function namedEmbedding(name: string): { provider: string; id: string } {
  const [provider = '', ...rest] = name.split('/')
  return { provider, id: rest.join('/') }
}

/** The id of the space that this embedding's vectors belong to. */
export function spaceIdOf(name: string): string {
  return name === builtinName ? builtinSpace.id : name
}

/** The space of this model's vectors, of which this is one. */
export function providerSpace(
  model: Pick<EmbeddingModel, 'provider' | 'id'>,
  { length: dimensions }: Float32Array,
): VectorSpace {
  return { id: embeddingName(model), dimensions, form: 'floats' }
}
