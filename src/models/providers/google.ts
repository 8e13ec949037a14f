import { Type } from 'typebox'
import { matches } from '#platform/schema-check.ts'
import { type Endpoint, isTokenCount, type ListedModel, type RemoteProviderAdapter } from './provider.ts'

const entrySchema = Type.Object({
  /** The name, in the form `models/<id>`. */
  name: Type.String({ pattern: '^models/.' }),
  displayName: Type.Optional(Type.String()),
  inputTokenLimit: Type.Optional(Type.Unknown()),
  supportedGenerationMethods: Type.Optional(Type.Array(Type.String())),
})
const listSchema = Type.Object({ models: Type.Array(Type.Unknown()) })

/** Models that generate other kinds of content, or are not made for conversations. */
const otherPurposes =
  /embedding|image|nano-banana|tts|audio|live|robotics|computer-use|deep-research|aqa|veo|lyria|imagen/

export const google: RemoteProviderAdapter = {
  publicAddress: 'https://generativelanguage.googleapis.com/v1beta',
  async languageModel(modelId, endpoint) {
    return (await open(endpoint)).chat(modelId)
  },
  async embeddingModel(modelId, endpoint) {
    return (await open(endpoint)).embeddingModel(modelId)
  },
  listRequest: apiKey => ({ path: '/models?pageSize=1000', headers: { 'x-goog-api-key': apiKey ?? '' } }),
  readList: body => (matches(listSchema, body) ? body.models.flatMap(readEntry) : []),
}

function readEntry(entry: unknown): ListedModel[] {
  if (!matches(entrySchema, entry)) return []
  const id = entry.name.slice('models/'.length)
  const generates = entry.supportedGenerationMethods?.includes('generateContent') ?? true
  if (!generates || otherPurposes.test(id)) return []
  const contextWindow = isTokenCount(entry.inputTokenLimit) ? entry.inputTokenLimit : undefined
  return [{ id, name: entry.displayName, contextWindow }]
}

async function open({ baseUrl, apiKey, fetch }: Endpoint) {
  const { createGoogle } = await import('@ai-sdk/google')
  return createGoogle({ baseURL: baseUrl, apiKey: apiKey ?? '', fetch })
}
