import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { alternating } from '../language-model/alternating.ts'
import type { LanguageModel } from '../language-model/language-model.ts'
import { anthropic } from './anthropic.ts'
import { google } from './google.ts'
import { offeringForm } from './offer-form.ts'
import { offeringImages } from './offer-images.ts'
import { offeringTools } from './offer-tools.ts'
import { openai } from './openai.ts'
import { openaiCompatible } from './openai-compatible.ts'
import type { Endpoint, RemoteProvider, RemoteProviderAdapter } from './provider.ts'

const adapters = {
  openai,
  anthropic,
  google,
  'openai-compatible': openaiCompatible,
} satisfies Record<RemoteProvider, RemoteProviderAdapter>

export function adapterOf(provider: RemoteProvider): RemoteProviderAdapter {
  return adapters[provider]
}

/** Returns a provider's model behind the service's interface. The first stream contacts the provider. */
export async function remoteLanguageModel(
  provider: RemoteProvider,
  modelId: string,
  endpoint: Endpoint,
): Promise<LanguageModel> {
  const { baseUrl } = endpoint
  const offered = { provider, modelId, baseUrl }
  const cached = await cachedModel(provider, modelId, endpoint)
  const model = offeringTools(offeringForm(cached), offered)
  // Images are offered before neighbours are joined because only the last message is the question.
  const { doStream } = offeringImages(
    { doStream: options => model.doStream({ ...options, prompt: alternating(options.prompt) }) },
    offered,
  )
  return {
    provider,
    modelId,
    doStream,
    withoutSecrets: withoutSecret(endpoint.apiKey),
  }
}

type AdapterModel = ReturnType<RemoteProviderAdapter['languageModel']>

/** Cached models: the provider's package builds its schemas for each, longer than a short answer takes. */
const models = new WeakMap<typeof fetch, LRUCache<string, AdapterModel>>()
const modelsKept = 500

function cachedModel(provider: RemoteProvider, modelId: string, endpoint: Endpoint): AdapterModel {
  const { baseUrl, apiKey = '', fetch } = endpoint
  const known = models.get(fetch) ?? new LRUCache<string, AdapterModel>({ max: modelsKept })
  models.set(fetch, known)
  const key = hash('sha256', JSON.stringify([provider, modelId, baseUrl, apiKey]), 'base64')
  const model = known.get(key) ?? adapterOf(provider).languageModel(modelId, endpoint)
  known.set(key, model)
  return model
}

/** Returns a function that removes a secret from texts, and an address's credentials before the `@`. */
export function withoutSecret(secret: string | undefined): (text: string) => string {
  return text => {
    const withoutIt = secret ? text.replaceAll(secret, '[redacted]') : text
    return withoutIt.replaceAll(/\/\/[^/\s]*@/g, '//***@')
  }
}
