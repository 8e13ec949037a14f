import type { Endpoint, RemoteProviderAdapter } from '../provider.ts'
import { canChat, listEntries, readEntry } from './openai-list.ts'

/** Any server that speaks OpenAI's chat completions: Ollama, vLLM, LM Studio, OpenRouter. */
export const openaiCompatible: RemoteProviderAdapter = {
  async languageModel(modelId, endpoint) {
    return (await open(endpoint)).chatModel(modelId)
  },
  async embeddingModel(modelId, endpoint) {
    return (await open(endpoint)).embeddingModel(modelId)
  },
  listRequest: apiKey => ({
    path: '/models',
    headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
  }),
  readList: body => listEntries(body).filter(canChat).map(readEntry),
}

async function open({ baseUrl, apiKey, fetch }: Endpoint) {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
  const key = apiKey === undefined ? {} : { apiKey }
  return createOpenAICompatible({
    name: 'openai-compatible',
    baseURL: baseUrl,
    fetch,
    includeUsage: true,
    ...key,
  })
}
