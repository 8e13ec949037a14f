import { describe, expect, test } from 'vitest'
import { createLog } from '#platform/logging/log.ts'
import { immediately } from '#test/support/collect-answer.ts'
import { type RecordedRequest, type Reply, startModelServer } from '#test/support/model-server.ts'
import type { AgentChoice, ModelConfiguration } from '../choice/model-configuration.ts'
import { createModels } from '../models.ts'

const plain: AgentChoice = { settings: {}, credentials: {} }

function modelsWith(configuration: ModelConfiguration) {
  return createModels({
    configuration,
    trustedFetch: fetch,
    outboundFetch: fetch,
    clock: { now: () => 1 },
    log: createLog('silent'),
    timing: immediately,
  })
}

/** Vectors that tell which text they are of: its length and its place in the request. */
const vectorOf = (text: string, index: number) => [text.length, index]

function openaiVectors({ body }: RecordedRequest): Reply {
  const { input } = body as { input: string[] }
  const data = input.map((text, index) => ({ object: 'embedding', index, embedding: vectorOf(text, index) }))
  return { json: { object: 'list', data, model: 'm', usage: { prompt_tokens: 1, total_tokens: 1 } } }
}

function googleVectors({ body, path }: RecordedRequest): Reply {
  if (path.endsWith(':embedContent')) return { json: { embedding: { values: [1, 2] } } }
  const { requests } = body as { requests: { content: { parts: { text: string }[] } }[] }
  const texts = requests.map(request => request.content.parts[0]?.text ?? '')
  return { json: { embeddings: texts.map((text, index) => ({ values: vectorOf(text, index) })) } }
}

describe('embedding', () => {
  test('builtin is a marker: its vectors are made elsewhere', async () => {
    const models = modelsWith({ embeddingProvider: 'builtin' })
    expect(await models.embedding(plain)).toEqual({ provider: 'builtin', id: 'builtin-1' })
  })

  test('local says that there is none where the operator has none', async () => {
    const models = modelsWith({ embeddingProvider: 'local', embeddingModel: '/models/e5' })
    await expect(models.embedding(plain)).rejects.toMatchObject({
      code: 'MODEL_NOT_CONFIGURED',
      message: expect.stringMatching(/no local embedding model: set EMBEDDING_PROVIDER/),
    })
    expect(await models.embedding({ ...plain, settings: { embedding_provider: 'builtin' } })).toMatchObject({
      provider: 'builtin',
    })
  })

  test.each(['openai', 'openai-compatible'] as const)('%s, in batches, in order', async embeddingProvider => {
    await using server = await startModelServer(openaiVectors)
    const account = { baseUrl: server.url, apiKey: 'k' }
    const configuration = {
      embeddingProvider,
      embeddingModel: 'text-embedding-3-small',
      openai: account,
      openaiCompatible: account,
    }
    const model = await modelsWith(configuration).embedding(plain)
    if (model.provider === 'builtin') throw new Error('expected a remote model')
    const texts = Array.from({ length: 200 }, (_, index) => 'x'.repeat(index + 1))
    const vectors = await model.embed(texts, { purpose: 'document' })
    expect(vectors).toHaveLength(200)
    expect(vectors[0]).toBeInstanceOf(Float32Array)
    expect(vectors.map(vector => vector[0])).toEqual(texts.map(text => text.length))
    expect(server.requests.map(request => (request.body as { input: string[] }).input.length)).toEqual([
      96, 96, 8,
    ])
    expect(server.requests[0]).toMatchObject({
      path: '/v1/embeddings',
      headers: { authorization: 'Bearer k' },
    })
    if (embeddingProvider === 'openai-compatible')
      expect(server.requests[0]?.headers).toMatchObject({ accept: 'application/json' })
    expect(model.dimensions).toBe(embeddingProvider === 'openai' ? 1536 : undefined)
  })

  test('google is told what the texts are for, and how long vectors are to be', async () => {
    await using server = await startModelServer(googleVectors)
    const model = await modelsWith({
      embeddingProvider: 'google',
      google: { apiKey: 'k', baseUrl: server.url },
    }).embedding(plain)
    if (model.provider === 'builtin') throw new Error('expected a remote model')
    expect(model).toMatchObject({ id: 'gemini-embedding-001', dimensions: 768 })
    expect(await model.embed(['a', 'bb'], { purpose: 'document' })).toEqual([
      Float32Array.of(1, 0),
      Float32Array.of(2, 1),
    ])
    expect(await model.embed(['a'], { purpose: 'query' })).toEqual([Float32Array.of(1, 2)])
    expect(server.requests.map(request => request.body)).toMatchObject([
      { requests: [{ taskType: 'RETRIEVAL_DOCUMENT', outputDimensionality: 768 }, {}] },
      { taskType: 'RETRIEVAL_QUERY', outputDimensionality: 768 },
    ])
  })

  test('an agent’s choice precedes the operator’s, with its own key', async () => {
    await using server = await startModelServer(openaiVectors)
    const models = modelsWith({
      embeddingProvider: 'google',
      embeddingModel: 'gemini-embedding-2',
      openai: { baseUrl: server.url },
    })
    const agent = { settings: { embedding_provider: 'openai' }, credentials: { openai_api_key: 'own' } }
    const model = await models.embedding(agent)
    expect(model).toMatchObject({ provider: 'openai', id: 'text-embedding-3-small' })
    if (model.provider !== 'builtin') await model.embed(['a'], { purpose: 'query' })
    expect(server.requests[0]?.headers.authorization).toBe('Bearer own')
    const chosen = { ...agent, settings: { ...agent.settings, embedding_model: 'text-embedding-3-large' } }
    expect(await models.embedding(chosen)).toMatchObject({ id: 'text-embedding-3-large', dimensions: 3072 })
  })

  test('passing failures are tried again, others are said', async () => {
    const failures: Reply[] = [
      { status: 503, json: {} },
      { status: 429, json: {} },
    ]
    await using server = await startModelServer((request, index) => failures[index] ?? openaiVectors(request))
    const configuration = {
      embeddingProvider: 'openai' as const,
      openai: { apiKey: 'secret-key', baseUrl: server.url },
    }
    const model = await modelsWith(configuration).embedding(plain)
    if (model.provider === 'builtin') throw new Error('expected a remote model')
    expect(await model.embed(['a'], { purpose: 'query' })).toHaveLength(1)

    failures.push(
      {},
      { status: 401, json: { error: { message: 'bad secret-key', type: 'auth', code: null } } },
    )
    await expect(model.embed(['a'], { purpose: 'query' })).rejects.toMatchObject({
      code: 'MODEL_ERROR',
      message: expect.stringContaining('refused the configured key'),
    })
    failures.push({ json: { object: 'list', data: [], model: 'm' } })
    await expect(model.embed(['a'], { purpose: 'query' })).rejects.toMatchObject({
      message: expect.stringContaining('too few vectors'),
    })
  })

  test.each<[string, Reply]>([
    ['too large', { json: { data: [{ embedding: [1, 2] }], padding: 'x'.repeat(1_000_000) } }],
    ['without end', { stream: Array.from({ length: 100 }, () => 'x'.repeat(100_000)), cut: true }],
    ['that is no JSON', { text: '{"data":' }],
  ])('an answer %s is unreadable, and not asked for again', async (_, reply) => {
    await using server = await startModelServer(() => reply)
    const configuration = {
      embeddingProvider: 'openai-compatible' as const,
      embeddingModel: 'm',
      openaiCompatible: { baseUrl: server.url },
    }
    const model = await modelsWith(configuration).embedding(plain)
    if (model.provider === 'builtin') throw new Error('expected a remote model')
    await expect(model.embed(['a'], { purpose: 'query' })).rejects.toMatchObject({
      code: 'MODEL_ERROR',
      message: expect.stringContaining("can't be read"),
    })
    expect(server.requests).toHaveLength(1)
  })

  test('ends with the signal', async () => {
    const leaving = new AbortController()
    await using server = await startModelServer(() => {
      leaving.abort(new Error('gone'))
      return new Promise<Reply>(() => {})
    })
    const model = await modelsWith({
      embeddingProvider: 'openai',
      openai: { apiKey: 'k', baseUrl: server.url },
    }).embedding(plain)
    if (model.provider === 'builtin') throw new Error('expected a remote model')
    await expect(model.embed(['a'], { purpose: 'query', signal: leaving.signal })).rejects.toThrow('gone')
  })

  test.each<[string, Partial<ModelConfiguration>, AgentChoice['settings'], string]>([
    ['without credentials', { embeddingProvider: 'openai' }, {}, 'MODEL_NOT_CONFIGURED'],
    [
      'by a server that is not told the model',
      { embeddingProvider: 'openai-compatible', openaiCompatible: { baseUrl: 'http://127.0.0.1:1' } },
      {},
      'MODEL_NOT_CONFIGURED',
    ],
    ['by a provider that there is not', {}, { embedding_provider: 'acme' }, 'VALIDATION_ERROR'],
    ['by one that embeds nothing', {}, { embedding_provider: 'anthropic' }, 'VALIDATION_ERROR'],
    [
      'with an id that leaves its path',
      { google: { apiKey: 'k' } },
      { embedding_provider: 'google', embedding_model: '../x' },
      'MODEL_UNKNOWN',
    ],
  ])('%s is %s', async (_, configuration, settings, code) => {
    const models = modelsWith({ embeddingProvider: 'builtin', ...configuration })
    await expect(models.embedding({ settings, credentials: {} })).rejects.toMatchObject({ code, status: 400 })
  })
})
