import type { EmbeddingModel } from './embeddings.ts'

/** Returns the name of the embedding: chunks are found only by vectors of the embedding that made theirs. */
export function embeddingName({ provider, id }: Pick<EmbeddingModel, 'provider' | 'id'>): string {
  return `${provider}/${id}`
}

/** Returns the provider and model of a name. */
export function namedEmbedding(name: string): { provider: string; id: string } {
  const [provider = '', ...rest] = name.split('/')
  return { provider, id: rest.join('/') }
}
