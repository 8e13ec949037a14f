/** The whole of this folder from the outside: choices of operator, agent and message, against servers on loopback. */
import { describe, expect, test } from 'vitest'
import { createLog } from '#platform/logging/log.ts'
import { createOutbound } from '#platform/outbound/outbound.ts'
import { collect, immediately, question } from '#test/support/collect-answer.ts'
import {
  type ModelServer,
  openaiText,
  type RecordedRequest,
  type Reply,
  startModelServer,
} from '#test/support/model-server.ts'
import type { AgentChoice, ModelConfiguration } from './choice/model-configuration.ts'
import { createModels } from './models.ts'
import { streamWithRetry } from './transport/call-with-retry.ts'

const plain: AgentChoice = { settings: {}, credentials: {} }

function setUp(configuration: Partial<ModelConfiguration> = {}, outboundFetch = fetch) {
  const guarded: string[] = []
  const models = createModels({
    configuration: { embeddingProvider: 'builtin', ...configuration },
    trustedFetch: fetch,
    outboundFetch: (input, init) => {
      guarded.push(String(input))
      return outboundFetch(input, init)
    },
    clock: { now: () => 1 },
    log: createLog('silent'),
    timing: immediately,
  })
  return { models, guarded }
}

function disposableOutbound() {
  const outbound = createOutbound({ allow: ['127.0.0.1'], userAgent: 'test' })
  return { ...outbound, [Symbol.asyncDispose]: outbound.close }
}

/** A compatible server with one model, `served`, of 8,192 tokens. */
function compatible(
  more: (request: RecordedRequest) => Reply | undefined = () => undefined,
): Promise<ModelServer> {
  return startModelServer(request => {
    const reply = more(request)
    if (reply !== undefined) return reply
    return request.path === '/v1/models'
      ? { json: { data: [{ id: 'served', max_model_len: 8192 }] } }
      : { stream: openaiText('Hello') }
  })
}

describe('an operator’s address with a user and a password', () => {
  const basic = `Basic ${Buffer.from('us er:p@ss').toString('base64')}`
  const within = (url: string) => url.replace('//', '//us%20er:p%40ss@')

  test.each(['', '/v1'])('gives its models and their answers, path %j', async path => {
    await using server = await compatible()
    const { models } = setUp({ openaiCompatible: { baseUrl: `${within(server.url)}${path}` } })
    const { model, ...resolved } = await models.resolve(plain)
    expect(resolved).toEqual({
      id: 'served',
      provider: 'openai-compatible',
      paidBy: 'platform',
      contextWindow: 8192,
    })
    expect((await collect(streamWithRetry(model, question('Hi')))).text).toBe('Hello')
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([basic, basic])
  })

  test('leaves the key of a provider alone, and is sent beside one that stands elsewhere', async () => {
    await using server = await startModelServer(() => ({ status: 401, json: {} }))
    const account = { apiKey: 'platform', baseUrl: within(server.url) }
    const { models } = setUp({ openai: account, anthropic: account })
    await models.list(plain)
    expect(server.requests.map(({ headers }) => [headers.authorization, headers['x-api-key']])).toEqual(
      expect.arrayContaining([
        ['Bearer platform', undefined],
        [basic, 'platform'],
      ]),
    )
  })
})

describe('resolving a model', () => {
  test('builtin without anything configured, and nothing else', async () => {
    const { models } = setUp()
    const { model, ...resolved } = await models.resolve(plain)
    expect(resolved).toEqual({ id: 'builtin', provider: 'builtin', contextWindow: 32_768 })
    expect((await collect(streamWithRetry(model, question('Hi')))).text).toContain('built-in retriever')
    await expect(models.resolve({ ...plain, requested: 'gpt-5' })).rejects.toMatchObject({
      code: 'MODEL_UNKNOWN',
      message: expect.stringContaining('"gpt-5"'),
    })
  })

  test('a server of the operator: its first model, its window, its key, no guard', async () => {
    await using server = await compatible()
    const { models, guarded } = setUp({ openaiCompatible: { baseUrl: server.url, apiKey: 'platform' } })
    const { model, ...resolved } = await models.resolve(plain)
    expect(resolved).toEqual({
      id: 'served',
      provider: 'openai-compatible',
      paidBy: 'platform',
      contextWindow: 8192,
    })
    expect((await collect(streamWithRetry(model, question('Hi')))).text).toBe('Hello')
    expect(server.requests.map(request => request.path)).toEqual(['/v1/models', '/v1/chat/completions'])
    for (const { headers } of server.requests) expect(headers.authorization).toBe('Bearer platform')
    expect(server.requests[1]?.body).toMatchObject({ model: 'served', stream: true })
    expect(guarded).toEqual([])
  })

  test('a server of the agent: through the guard, never with the platform’s key', async () => {
    await using server = await compatible()
    const { models, guarded } = setUp({
      openaiCompatible: { baseUrl: 'http://127.0.0.1:1', apiKey: 'platform' },
    })
    const settings = {
      llm_provider: 'openai-compatible',
      llm_base_url: `${server.url}/v1`,
      llm_model: 'served',
    }
    for (const credentials of [{}, { openai_compatible_api_key: 'own' }]) {
      const { model } = await models.resolve({ settings, credentials })
      expect((await collect(streamWithRetry(model, question('Hi')))).text).toBe('Hello')
    }
    const sent = server.requests.map(request => [request.path, request.headers.authorization])
    expect(sent).toEqual([
      ['/v1/models', undefined],
      ['/v1/chat/completions', undefined],
      ['/v1/models', 'Bearer own'],
      ['/v1/chat/completions', 'Bearer own'],
    ])
    expect(guarded).toHaveLength(4)
  })

  test('a server of the agent that breaks off is asked again, and is then a provider that fails', async () => {
    await using server = await startModelServer(() => Promise.reject(new Error('broken')))
    await using outbound = disposableOutbound()
    const { models } = setUp({}, outbound.fetchFunction())
    const settings = {
      llm_provider: 'openai-compatible',
      llm_base_url: server.url,
      llm_model: 'served',
    }
    const { model } = await models.resolve({ settings, credentials: {} })
    expect((await collect(streamWithRetry(model, question('Hi'), immediately))).error).toMatchObject({
      code: 'MODEL_ERROR',
      message: expect.stringContaining("can't be reached"),
    })
    const asked = server.requests.filter(({ method }) => method === 'POST')
    expect(asked).toHaveLength(3)
  })

  test('a server that wants a query with every request', async () => {
    await using server = await compatible(({ path }) =>
      path === '/v1/models?version=1' ? { json: { data: [{ id: 'served' }] } } : undefined,
    )
    const { models } = setUp({ openaiCompatible: { baseUrl: `${server.url}?version=1` } })
    const { model } = await models.resolve(plain)
    expect((await collect(streamWithRetry(model, question('Hi')))).text).toBe('Hello')
    const asked = server.requests.map(({ path }) => path)
    expect(asked).toEqual(['/v1/models?version=1', '/v1/chat/completions?version=1'])
  })

  test('a model that the server does not have is asked for all the same: the server says so', async () => {
    const body = { error: { message: "model 'other' not found", type: 'not_found_error', code: null } }
    await using server = await compatible(({ method }) =>
      method === 'POST' ? { status: 404, json: body } : undefined,
    )
    const { models } = setUp({ openaiCompatible: { baseUrl: server.url } })
    const { model, contextWindow } = await models.resolve({ ...plain, requested: 'other' })
    expect(contextWindow).toBe(32_768)
    expect((await collect(streamWithRetry(model, question('Hi'), immediately))).error).toMatchObject({
      code: 'MODEL_UNKNOWN',
      message: expect.stringContaining('"other"'),
    })
  })

  test('a known model asks for no list', async () => {
    await using server = await compatible()
    const { models } = setUp({ openai: { apiKey: 'k', baseUrl: server.url } })
    expect(await models.resolve(plain)).toMatchObject({ id: 'gpt-5.4-mini', contextWindow: 400_000 })
    expect(await models.resolve({ ...plain, requested: 'openai/gpt-4o' })).toMatchObject({
      id: 'gpt-4o',
      contextWindow: 128_000,
    })
    expect(server.requests).toEqual([])
  })

  test.each([
    ['a provider without credentials', { requested: 'anthropic/claude-opus-5' }, 'MODEL_NOT_CONFIGURED'],
    [
      'an agent’s provider without credentials',
      { settings: { llm_provider: 'google' } },
      'MODEL_NOT_CONFIGURED',
    ],
    ['a provider that there is not', { settings: { llm_provider: 'acme' } }, 'VALIDATION_ERROR'],
    ['another model of builtin', { requested: 'builtin/large' }, 'MODEL_UNKNOWN'],
    [
      'an id that leaves its path',
      { settings: { llm_provider: 'openai', llm_model: '../files' } },
      'MODEL_UNKNOWN',
    ],
    ['an id with a query', { requested: 'openai/gpt-4o?alt=sse' }, 'MODEL_UNKNOWN'],
    ['an endless id', { requested: `openai/${'x'.repeat(201)}` }, 'MODEL_UNKNOWN'],
    ['an empty id', { requested: 'openai/' }, 'MODEL_UNKNOWN'],
  ])('%s: %j is %s', async (_, choice, code) => {
    const { models } = setUp({ openai: { apiKey: 'k' } })
    await expect(models.resolve({ ...plain, ...choice })).rejects.toMatchObject({ code, status: 400 })
  })

  test('a server that names no model asks for a choice', async () => {
    await using server = await compatible(() => ({ json: { data: [] } }))
    const { models } = setUp({ openaiCompatible: { baseUrl: server.url } })
    await expect(models.resolve(plain)).rejects.toMatchObject({
      code: 'MODEL_NOT_CONFIGURED',
      message: expect.stringMatching(/base URL \(did you leave out \/v1\?\).* llm_model .*DEFAULT_MODEL/),
    })
  })
})

test('what is in force is said without asking anybody', async () => {
  await using server = await compatible()
  const { models } = setUp({ openaiCompatible: { baseUrl: server.url } })
  expect(models.inForce(plain)).toEqual({ provider: 'openai-compatible', model: '' })
  expect(models.inForce({ ...plain, credentials: { google_api_key: 'set' } })).toEqual({
    provider: 'google',
    model: 'gemini-3.8-flash',
  })
  expect(setUp().models.inForce(plain)).toEqual({ provider: 'builtin', model: 'builtin' })
  expect(server.requests).toEqual([])
})

describe('the list of models', () => {
  test('holds builtin alone without anything configured', async () => {
    expect(await setUp().models.list(plain)).toEqual([
      expect.objectContaining({
        id: 'builtin',
        provider: 'builtin',
        supportsTools: true,
        supportsStreaming: true,
      }),
    ])
  })

  test('holds what the agent can use, and every id of it can be asked for', async () => {
    await using server = await compatible()
    const { models } = setUp({
      openaiCompatible: { baseUrl: server.url },
      anthropic: { apiKey: 'k', baseUrl: `${server.url}/none` },
    })
    const list = await models.list(plain)
    expect(new Set(list.map(model => model.provider))).toEqual(
      new Set(['anthropic', 'openai-compatible', 'builtin']),
    )
    for (const { id, provider, contextWindow } of list) {
      expect(await models.resolve({ ...plain, requested: id })).toMatchObject({ id, provider, contextWindow })
      expect(await models.resolve({ ...plain, requested: `${provider}/${id}` })).toMatchObject({
        id,
        provider,
      })
    }
  })
})
