import { chatCompletionsModel } from '../chat-completions/chat-completions.ts'
import { embeddingsModel } from '../chat-completions/embeddings.ts'
import { canChat, listEntries, readEntry } from './openai-list.ts'
import type { RemoteProviderAdapter } from './provider.ts'

/** Any server with OpenAI's chat completions: Ollama, vLLM, LM Studio, OpenRouter. */
export const openaiCompatible: RemoteProviderAdapter = {
  languageModel: async (modelId, endpoint) => chatCompletionsModel(modelId, endpoint),
  embeddingModel: async (modelId, endpoint) => embeddingsModel(modelId, endpoint),
  listRequest: apiKey => ({
    path: '/models',
    headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
  }),
  readList: body => listEntries(body).filter(canChat).map(readEntry),
}
