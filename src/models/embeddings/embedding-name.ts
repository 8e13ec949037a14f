import type { EmbeddingModel } from './embeddings.ts'

/** The name of the embedding: chunks are found by the vectors of the one they were embedded with. */
export function embeddingName({ provider, id }: Pick<EmbeddingModel, 'provider' | 'id'>): string {
  return `${provider}/${id}`
}

/** The provider and model in a name. */
export function namedEmbedding(name: string): { provider: string; id: string } {
  const [provider = '', ...rest] = name.split('/')
  return { provider, id: rest.join('/') }
}
