import { describe, expect, test } from 'vitest'
import { createLog } from '#platform/logging/log.ts'
import { type Reply, startModelServer } from '#test/support/model-server.ts'
import type { RemoteProvider } from '../providers/provider.ts'
import { catalogueOf } from './model-catalogue.ts'
import { createModelLists } from './model-list.ts'

const key = 'sk-list-012345'

function setUp(timeLimit = 3000) {
  const lines: string[] = []
  const clock = { time: 1, now: () => clock.time }
  const log = createLog('info', { write: line => lines.push(line) })
  return { lines, clock, lists: createModelLists({ clock, log, timeLimit }) }
}

async function listFrom(provider: RemoteProvider, reply: Reply) {
  await using server = await startModelServer(() => reply)
  const { lists, lines } = setUp()
  const models = await lists.modelsOf(provider, { baseUrl: `${server.url}/v1`, apiKey: key, fetch })
  return { models, lines, requests: server.requests }
}

const shortForm = (models: { id: string; contextWindow: number; supportsTools: boolean }[]) =>
  models.map(({ id, contextWindow, supportsTools }) => [id, contextWindow, supportsTools])

describe('the list of each provider', () => {
  test('OpenAI: the models that chat, their windows from the catalogue', async () => {
    const data = ['gpt-5.4', 'gpt-9', 'tts-1', 'text-embedding-3-small'].map(id => ({ id, object: 'model' }))
    const { models, requests } = await listFrom('openai', { json: { object: 'list', data } })
    expect(shortForm(models)).toEqual([
      ['gpt-5.4', 1_050_000, true],
      ['gpt-9', 32_768, true],
    ])
    expect(requests[0]).toMatchObject({
      method: 'GET',
      path: '/v1/models',
      headers: { authorization: `Bearer ${key}` },
    })
  })

  test('compatible servers: what they say of window, tools and purpose', async () => {
    const data = [
      { id: 'meta/llama', name: 'Llama', context_length: 131_072, supported_parameters: ['tools', 'top_p'] },
      { id: 'old', context_length: 4096, supported_parameters: ['top_p'] },
      { id: 'served', max_model_len: 40_960 },
      { id: 'groq', context_window: 8192 },
      { id: 'studio', max_context_length: 16_384 },
      { id: 'odd', context_length: '8k', max_model_len: -1 },
      { id: 'painter', architecture: { output_modalities: ['image'] } },
      { id: 'ranker', type: 'rerank' },
      { id: 'nomic-embed-text:latest' },
      { id: 'BAAI/bge-m3' },
      { id: 'openai/whisper-large' },
    ]
    const expected = [
      ['meta/llama', 131_072, true],
      ['old', 4096, false],
      ['served', 40_960, true],
      ['groq', 8192, true],
      ['studio', 16_384, true],
      ['odd', 32_768, true],
    ]
    const { models } = await listFrom('openai-compatible', { json: { data } })
    expect(shortForm(models)).toEqual(expected)
    expect(models[0]?.name).toBe('Llama')
    expect(shortForm((await listFrom('openai-compatible', { json: data })).models)).toEqual(expected)
  })

  test('Anthropic', async () => {
    const data = [
      { type: 'model', id: 'claude-next', display_name: 'Claude Next', max_input_tokens: 2_000_000 },
      { type: 'model', id: 'claude-opus-5', display_name: 'Claude Opus 5' },
    ]
    const { models, requests } = await listFrom('anthropic', { json: { data, has_more: false } })
    expect(shortForm(models)).toEqual([
      ['claude-next', 2_000_000, true],
      ['claude-opus-5', 1_000_000, true],
    ])
    expect(models[0]?.name).toBe('Claude Next')
    expect(requests[0]?.path).toBe('/v1/models?limit=1000')
    expect(requests[0]?.headers).toMatchObject({ 'x-api-key': key, 'anthropic-version': '2023-06-01' })
  })

  test('Google', async () => {
    const entry = (id: string, more: object = {}) => ({
      name: `models/${id}`,
      displayName: id.toUpperCase(),
      inputTokenLimit: 1_048_576,
      supportedGenerationMethods: ['generateContent', 'countTokens'],
      ...more,
    })
    const models = [
      entry('gemini-3.8-flash'),
      entry('gemini-9', { inputTokenLimit: 5_000_000 }),
      entry('gemini-embedding-001', { supportedGenerationMethods: ['embedContent'] }),
      entry('gemini-2.5-flash-preview-tts'),
      entry('imagen-4', { supportedGenerationMethods: ['predict'] }),
      { name: 'tunedModels/x' },
      null,
    ]
    const answer = await listFrom('google', { json: { models } })
    expect(shortForm(answer.models)).toEqual([
      ['gemini-3.8-flash', 1_048_576, true],
      ['gemini-9', 5_000_000, true],
    ])
    expect(answer.models[0]?.name).toBe('GEMINI-3.8-FLASH')
    expect(answer.requests[0]).toMatchObject({
      path: '/v1/models?pageSize=1000',
      headers: { 'x-goog-api-key': key },
    })
  })
})

describe('a list that can’t be had', () => {
  test.each<[string, Reply]>([
    ['an error', { status: 500, json: { error: `no ${key}` } }],
    ['a refused key', { status: 401, json: {} }],
    ['no JSON', { text: '<html>' }],
    ['an unexpected shape', { json: { models: 'none' } }],
    ['no models', { json: { data: [] } }],
    [
      'more than anyone has models',
      { json: { data: [{ id: 'claude-opus-5', padding: 'x'.repeat(5 * 1024 * 1024) }] } },
    ],
    ['a broken connection', { stream: ['{"data":'], cut: true }],
  ])('(%s) is the catalogue, and logged without the key', async (_, reply) => {
    const { models, lines } = await listFrom('anthropic', reply)
    expect(models).toEqual(catalogueOf('anthropic'))
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain('"provider":"anthropic"')
    expect(lines[0]).not.toContain(key)
  })

  test('from an address with a password is logged without that', async () => {
    const { lists, lines } = setUp()
    await lists.modelsOf('openai-compatible', { baseUrl: 'http://user:hunter2@127.0.0.1/v1', fetch })
    expect(lines.join()).toContain('//***@127.0.0.1/v1')
    expect(lines.join()).not.toContain('hunter2')
  })

  test('in time is the catalogue', async () => {
    const forever = new Promise<Reply>(() => {})
    await using server = await startModelServer(() => forever)
    const { lists } = setUp(20)
    expect(await lists.modelsOf('google', { baseUrl: server.url, apiKey: key, fetch })).toEqual(
      catalogueOf('google'),
    )
  })
})

describe('a list is kept', () => {
  const json = { data: [{ id: 'claude-opus-5' }] }
  const minute = 60_000

  test('for ten minutes, for all who ask at once', async () => {
    await using server = await startModelServer(() => ({ json }))
    const { lists, clock } = setUp()
    const endpoint = { baseUrl: server.url, apiKey: key, fetch }
    const ask = () => lists.modelsOf('anthropic', endpoint)
    await Promise.all([ask(), ask(), ask()])
    clock.time += 10 * minute - 1
    await ask()
    expect(server.requests).toHaveLength(1)
    clock.time += 2
    await ask()
    expect(server.requests).toHaveLength(2)
  })

  test('by provider, address and key', async () => {
    await using server = await startModelServer(() => ({ json }))
    const { lists } = setUp()
    await lists.modelsOf('anthropic', { baseUrl: server.url, apiKey: 'one', fetch })
    await lists.modelsOf('anthropic', { baseUrl: server.url, apiKey: 'two', fetch })
    await lists.modelsOf('openai-compatible', { baseUrl: server.url, apiKey: 'one', fetch })
    await lists.modelsOf('anthropic', { baseUrl: `${server.url}/v1`, apiKey: 'one', fetch })
    expect(server.requests).toHaveLength(4)
  })

  test('for a minute where it failed', async () => {
    const replies: Reply[] = [{ status: 500, json: {} }, { json }]
    await using server = await startModelServer((_, index) => replies[index] ?? { status: 418 })
    const { lists, clock } = setUp()
    const ask = () => lists.modelsOf('anthropic', { baseUrl: server.url, apiKey: key, fetch })
    await ask()
    clock.time += minute - 1
    expect(await ask()).toEqual(catalogueOf('anthropic'))
    expect(server.requests).toHaveLength(1)
    clock.time += 2
    expect((await ask()).map(model => model.id)).toEqual(['claude-opus-5'])
  })
})
