import type { LanguageModel } from '../language-model/language-model.ts'
import { canChat, listEntries, readEntry } from './openai-list.ts'
import type { Endpoint, RemoteProviderAdapter } from './provider.ts'

const publicAddress = 'https://api.openai.com/v1'

/** OpenAI's models that use other interfaces than this adapter's, or support no tools or text. */
const otherInterfaces =
  /^(gpt|chatgpt|o\d).*(audio|realtime|image|search|instruct|codex|deep-research|-live|-pro(-|$))|^(babbage|davinci|codex|computer-use)/

/**
 * From GPT-5.6 on, OpenAI rejects function tools on `/chat/completions` unless reasoning is off, and several of these
 * models cannot turn it off ("To use function tools, use /v1/responses"). At OpenAI's own address they are called
 * through `/responses`, with nothing stored there; every gateway supports chat completions.
 */
const needsResponses = /^gpt-(5\.([6-9]|\d\d)|[6-9]|\d\d)/

export const openai: RemoteProviderAdapter = {
  publicAddress,
  async languageModel(modelId, endpoint) {
    const provider = await open(endpoint)
    return endpoint.baseUrl === publicAddress && needsResponses.test(modelId)
      ? storingNothing(provider.responses(modelId))
      : provider.chat(modelId)
  },
  async embeddingModel(modelId, endpoint) {
    return (await open(endpoint)).embeddingModel(modelId)
  },
  listRequest: apiKey => ({ path: '/models', headers: { authorization: `Bearer ${apiKey ?? ''}` } }),
  readList: body =>
    listEntries(body)
      .filter(entry => canChat(entry) && !otherInterfaces.test(entry.id))
      .map(readEntry),
}

async function open({ baseUrl, apiKey, fetch }: Endpoint) {
  const { createOpenAI } = await import('@ai-sdk/openai')
  return createOpenAI({ baseURL: baseUrl, apiKey: apiKey ?? '', fetch })
}

function storingNothing(model: Pick<LanguageModel, 'doStream'>): Pick<LanguageModel, 'doStream'> {
  return {
    doStream: options =>
      model.doStream({
        ...options,
        providerOptions: {
          ...options.providerOptions,
          openai: { ...options.providerOptions?.openai, store: false },
        },
      }),
  }
}
