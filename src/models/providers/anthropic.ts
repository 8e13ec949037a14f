import { Type } from 'typebox'
import { matches } from '#platform/schema-check.ts'
import { withCacheMarks, withToolsOfPrompt } from './anthropic-tools.ts'
import { isTokenCount, type RemoteProviderAdapter } from './provider.ts'

const listSchema = Type.Object({
  data: Type.Array(
    Type.Object({
      id: Type.String({ minLength: 1 }),
      display_name: Type.Optional(Type.String()),
      max_input_tokens: Type.Optional(Type.Unknown()),
    }),
  ),
})

export const anthropic: RemoteProviderAdapter = {
  publicAddress: 'https://api.anthropic.com/v1',
  async languageModel(modelId, { baseUrl, apiKey, fetch }) {
    const { createAnthropic } = await import('@ai-sdk/anthropic')
    const model = createAnthropic({ baseURL: baseUrl, apiKey: apiKey ?? '', fetch })(modelId)
    return { modelId, doStream: options => model.doStream(withCacheMarks(withToolsOfPrompt(options))) }
  },
  listRequest: apiKey => ({
    path: '/models?limit=1000',
    headers: { 'x-api-key': apiKey ?? '', 'anthropic-version': '2023-06-01' },
  }),
  readList: body =>
    matches(listSchema, body)
      ? body.data.map(({ id, display_name, max_input_tokens }) => ({
          id,
          name: display_name,
          contextWindow: isTokenCount(max_input_tokens) ? max_input_tokens : undefined,
        }))
      : [],
}
