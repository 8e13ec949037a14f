import { embeddingName } from '#models/embeddings/embedding-name.ts'
import type { EmbeddingModel } from '#models/embeddings/embeddings.ts'
import type { VectorSpace } from '#storage/search/search-engine.ts'
import { builtinSpace } from './builtin-space.ts'

export const builtinName = embeddingName({ provider: 'builtin', id: builtinSpace.id })

/** Returns the id of the space of this embedding's vectors. */
export function spaceIdOf(name: string): string {
  return name === builtinName ? builtinSpace.id : name
}

/** Returns the space of this model's vectors, from one of them. */
export function providerSpace(
  model: Pick<EmbeddingModel, 'provider' | 'id'>,
  { length: dimensions }: Float32Array,
): VectorSpace {
  return { id: embeddingName(model), dimensions, form: 'floats' }
}
