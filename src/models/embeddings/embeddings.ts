import { AppError } from '#platform/errors.ts'
import type { EmbeddingProvider } from '../choice/model-configuration.ts'
import type { Endpoint } from '../providers/provider.ts'
import { adapterOf, withoutSecret } from '../providers/providers.ts'
import { callWithRetry, type Timing } from '../transport/call-with-retry.ts'

/** Providers that embed over the network. */
export type RemoteEmbeddingProvider = Exclude<EmbeddingProvider, 'builtin' | 'local'>

/** The purpose of a text: some models embed documents and queries differently. */
type EmbeddingPurpose = 'document' | 'query'

/** An embedding that takes texts: a provider's, or the operator's local one. */
export interface TextEmbeddingModel {
  provider: RemoteEmbeddingProvider | 'local'
  id: string
  /** The length of every vector, if known in advance. */
  dimensions?: number | undefined
  /**
   * Returns one vector per text, in order; usually not normalised. Throws AppError MODEL_UNKNOWN,
   * MODEL_NOT_CONFIGURED or MODEL_ERROR, or the signal's reason.
   */
  embed(
    texts: readonly string[],
    options: { signal?: AbortSignal | undefined; purpose: EmbeddingPurpose },
  ): Promise<Float32Array[]>
}

/** An embedding. `builtin` vectors are computed next to the documents, in a worker. */
export type EmbeddingModel = TextEmbeddingModel | { provider: 'builtin'; id: string }

interface KnownModel {
  id: string
  dimensions: number
}

/** Google's vectors are truncated to the recommended length: the full 3072 take four times the space for little gain. */
const known: Record<RemoteEmbeddingProvider, KnownModel[]> = {
  openai: [
    { id: 'text-embedding-3-small', dimensions: 1536 },
    { id: 'text-embedding-3-large', dimensions: 3072 },
    { id: 'text-embedding-ada-002', dimensions: 1536 },
  ],
  google: [{ id: 'gemini-embedding-001', dimensions: 768 }],
  'openai-compatible': [],
}

/** Texts per request: below every provider's limit, and few enough that a failed request loses little. */
const batchSize = 96

export function defaultEmbeddingModelOf(provider: RemoteEmbeddingProvider): string | undefined {
  return known[provider][0]?.id
}

export async function remoteEmbeddingModel(
  provider: RemoteEmbeddingProvider,
  id: string,
  endpoint: Endpoint,
  timing?: Timing,
): Promise<TextEmbeddingModel> {
  const model = await adapterOf(provider).embeddingModel?.(id, endpoint)
  if (model === undefined)
    throw new AppError('MODEL_UNKNOWN', `The provider "${provider}" has no embedding models.`)
  const failed = { provider, modelId: id, isEmbedding: true, withoutSecrets: withoutSecret(endpoint.apiKey) }

  const embedBatch = async (values: string[], purpose: EmbeddingPurpose, signal: AbortSignal | undefined) => {
    const options = { values, ...optionsFor(provider, id, purpose), ...(signal && { abortSignal: signal }) }
    const { embeddings } = await callWithRetry(failed, () => model.doEmbed(options), signal, timing)
    if (embeddings.length !== values.length) {
      throw new AppError('MODEL_ERROR', `The model provider "${provider}" sent too few vectors.`)
    }
    const vectors = embeddings.map(vector => Float32Array.from(vector))
    requireNumbers(vectors, `The model provider "${provider}"`)
    return vectors
  }

  return {
    provider,
    id,
    dimensions: known[provider].find(model => model.id === id)?.dimensions,
    async embed(texts, { signal, purpose }) {
      const vectors: Float32Array[] = []
      for (let start = 0; start < texts.length; start += batchSize) {
        vectors.push(...(await embedBatch(texts.slice(start, start + batchSize), purpose, signal)))
      }
      return vectors
    },
  }
}

/** @throws AppError MODEL_ERROR for non-finite numbers, as from models that overflow: they cannot be compared. */
export function requireNumbers(vectors: readonly Float32Array[], whoMadeThem: string): void {
  if (!vectors.every(vector => vector.every(Number.isFinite)))
    throw new AppError('MODEL_ERROR', `${whoMadeThem} made a vector that does not consist of numbers.`)
}

/** Returns the options; only `gemini-embedding-001` takes the purpose of a text, its successors don't. */
function optionsFor(provider: RemoteEmbeddingProvider, id: string, purpose: EmbeddingPurpose) {
  if (provider !== 'google' || id !== 'gemini-embedding-001') return {}
  const taskType = purpose === 'query' ? 'RETRIEVAL_QUERY' : 'RETRIEVAL_DOCUMENT'
  return { providerOptions: { google: { taskType, outputDimensionality: 768 } } }
}
