import type { LanguageModel } from './language-model.ts'
import type { Endpoint, RemoteProvider, RemoteProviderAdapter } from './provider.ts'
import { anthropic } from './providers/anthropic.ts'
import { google } from './providers/google.ts'
import { openai } from './providers/openai.ts'
import { openaiCompatible } from './providers/openai-compatible.ts'

const adapters = {
  openai,
  anthropic,
  google,
  'openai-compatible': openaiCompatible,
} satisfies Record<RemoteProvider, RemoteProviderAdapter>

export function adapterOf(provider: RemoteProvider): RemoteProviderAdapter {
  return adapters[provider]
}

/** A provider's language model behind our port. Nothing is asked of the provider before the first stream. */
export async function remoteLanguageModel(
  provider: RemoteProvider,
  modelId: string,
  endpoint: Endpoint,
): Promise<LanguageModel> {
  const model = await adapterOf(provider).languageModel(modelId, endpoint)
  return {
    provider,
    modelId,
    doStream: options => model.doStream(options),
    withoutSecrets: withoutSecret(endpoint.apiKey),
  }
}

/** Cuts one secret out of texts. */
export function withoutSecret(secret: string | undefined): (text: string) => string {
  return text => (secret ? text.replaceAll(secret, '[redacted]') : text)
}
