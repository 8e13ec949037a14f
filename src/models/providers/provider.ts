import type { EmbeddingModelV4 } from '@ai-sdk/provider'
import type { LanguageModel } from '../language-model/language-model.ts'
import type { Send } from '../transport/send.ts'

/** The providers in order: the first configured one becomes the default. */
export const providers = ['openai', 'anthropic', 'google', 'openai-compatible', 'builtin'] as const

export type Provider = (typeof providers)[number]
/** A provider that is reached over the network. */
export type RemoteProvider = Exclude<Provider, 'builtin'>

export function isProvider(name: string): name is Provider {
  return providers.some(provider => provider === name)
}

/** A way to send requests. */
export interface WayOut {
  fetch: typeof fetch
  /** Sends requests whose answers are read piece by piece; defaults to `fetch`. */
  send?: Send
}

/** The address of a provider's models, and the credentials for it. */
export interface Endpoint extends WayOut {
  /** The address with its version, such as `https://api.openai.com/v1`, without a slash at the end. */
  baseUrl: string
  /** Absent for servers that require none. */
  apiKey?: string | undefined
}

/** A model as `chat/models` lists it. */
export interface ModelDescriptor {
  id: string
  name: string
  provider: Provider
  /** Tokens of question and answer together. */
  contextWindow: number
  supportsTools: boolean
  /** Absent if unknown. */
  supportsImages?: boolean
  supportsStreaming: boolean
}

/** A model's entry in a provider's own list; the rest comes from the catalogue. */
export interface ListedModel {
  id: string
  name?: string | undefined
  contextWindow?: number | undefined
  supportsTools?: boolean | undefined
  supportsImages?: boolean | undefined
}

/**
 * One provider: creates its models, and requests and reads its list. Packages are imported on first use, so a
 * process loads only those of providers that it uses.
 */
export interface RemoteProviderAdapter {
  /** The default address; absent if there is no public one. */
  publicAddress?: string
  languageModel(modelId: string, endpoint: Endpoint): Promise<Pick<LanguageModel, 'doStream'>>
  /** Absent if the provider has no embedding models. */
  embeddingModel?(modelId: string, endpoint: Endpoint): Promise<Pick<EmbeddingModelV4, 'doEmbed'>>
  /** Returns path and headers of the request for the list of models. */
  listRequest(apiKey: string | undefined): { path: string; headers: Record<string, string> }
  /** Returns the models in the list's body that can chat; must not throw, for any body. */
  readList(body: unknown): ListedModel[]
}

/** True if a number in a provider's list can be a model's window. */
export function isTokenCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0
}
