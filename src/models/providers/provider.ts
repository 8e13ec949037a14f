import type { EmbeddingModelV4 } from '@ai-sdk/provider'
import type { LanguageModel } from '../language-model/language-model.ts'
import type { Send } from '../transport/send.ts'

/** In the order in which the first configured one becomes the default. */
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
  /** The same way for answers that are read piece by piece; by `fetch` where it is absent. */
  send?: Send
}

/** Where a provider's models are reached, and as whom. */
export interface Endpoint extends WayOut {
  /** With the version in its path, such as `https://api.openai.com/v1`; no slash at the end. */
  baseUrl: string
  /** Absent for servers that ask for none. */
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
  supportsStreaming: boolean
}

/** What a provider's own list says of a model; what it leaves out is looked up in the catalogue. */
export interface ListedModel {
  id: string
  name?: string | undefined
  contextWindow?: number | undefined
  supportsTools?: boolean | undefined
}

/**
 * One provider: how its models are made and how its own list is asked for and read.
 * Packages are imported on first use, so that a process that talks to one provider carries one.
 */
export interface RemoteProviderAdapter {
  /** The address when the operator has set none; absent where there is no public one. */
  publicAddress?: string
  languageModel(modelId: string, endpoint: Endpoint): Promise<Pick<LanguageModel, 'doStream'>>
  /** Absent where the provider has no embedding models. */
  embeddingModel?(modelId: string, endpoint: Endpoint): Promise<Pick<EmbeddingModelV4, 'doEmbed'>>
  /** Path and headers of the request for the list of models. */
  listRequest(apiKey: string | undefined): { path: string; headers: Record<string, string> }
  /** The models in the list's body that can chat; must not throw, whatever the body holds. */
  readList(body: unknown): ListedModel[]
}

/** Whether a number in a provider's list can be a model's window. */
export function isTokenCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0
}
