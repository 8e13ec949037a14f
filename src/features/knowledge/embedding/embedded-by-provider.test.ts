import { describe, expect, it, onTestFinished } from 'vitest'
import type { Source } from '#features/sources/sources.schema.ts'
import { type TestApp, testApp } from '#test/support/build-app.ts'
import { manualClock } from '#test/support/manual-clock.ts'
import { type Reply, startModelServer } from '#test/support/model-server.ts'
import { passTime } from '#test/support/pass-time.ts'
import { upload, uploadAndProcess } from '#test/support/upload.ts'
import type { SearchResult } from '../knowledge.schema.ts'

const sources = '/api/agents/default/sources'

const environment = { EMBEDDING_PROVIDER: 'openai-compatible', EMBEDDING_MODEL: 'm' }

/** Says nothing of what was asked for, this time. */
const empty: Reply = { json: {} }
const refusal = (status: number, message: string): Reply => ({ status, json: { error: { message } } })

/** The vector of a model whose numbers have grown too large. */
const overflow: Reply = {
  headers: { 'content-type': 'application/json' },
  text: '{"data": [{"index": 0, "embedding": [1e39, 1]}]}',
}

/** A service whose documents are embedded by a server that may answer requests, counted from 1, otherwise. */
async function setStage(otherwise: (request: number) => Reply | undefined) {
  const clock = manualClock()
  const server = await startModelServer(({ body }, index) => {
    const other = otherwise(index + 1)
    if (other !== undefined) return other
    const { input } = body as { input: string[] }
    const data = input.map((text, at) => ({ index: at, embedding: [text.length, 1] }))
    return { json: { object: 'list', data, model: 'm', usage: { prompt_tokens: 1, total_tokens: 1 } } }
  })
  onTestFinished(() => server[Symbol.asyncDispose]())
  const app = await testApp({
    environment: { ...environment, OPENAI_COMPATIBLE_BASE_URL: server.url },
    clock,
  })
  const asked = () => server.requests.map(({ body }) => (body as { input: string[] }).input)
  return { app, clock, asked }
}

const paragraphs = Array.from({ length: 300 }, (_, at) => `${'tea '.repeat(20)}${at}.`).join('\n\n')
const document = { name: 'tea.txt', content: paragraphs, fields: { chunk_size: '100', overlap: '0' } }

const chunkIds = (app: TestApp) =>
  app.service.infrastructure.agentDatabases.use('default', async ({ db }) =>
    (await db.selectFrom('chunks').select('id').execute()).map(({ id }) => id).toSorted(),
  )

describe('processing that fails on its way', () => {
  it('goes on where it stopped: nothing is read twice, and no more than a part embedded twice', async () => {
    const { app, clock, asked } = await setStage(request => (request === 3 ? empty : undefined))
    const { body } = await upload(app, document)
    await app.service.infrastructure.runner.idle()
    const get = async () => (await app.call<Source>('GET', `${sources}/${body.id}`)).body
    expect(await get()).toMatchObject({ status: 'processing' })
    expect((await get()).progress).toBeCloseTo(0.2 + (0.8 * 192) / 300)
    const stored = await chunkIds(app)
    expect(stored).toHaveLength(300)

    await passTime(app, clock, 2_000)
    expect(await get()).toMatchObject({ status: 'ready', chunks: 300 })
    expect(await chunkIds(app)).toEqual(stored)
    expect(asked().map(({ length }) => length)).toEqual([96, 96, 96, 96, 12])
    expect(new Set(asked().flat()).size).toBe(300)
  })

  it('begins anew when it is asked to, or with another embedding', async () => {
    const { app, clock } = await setStage(request => (request > 2 ? empty : undefined))
    const { body } = await upload(app, document)
    await app.service.infrastructure.runner.idle()
    const stored = await chunkIds(app)
    await app.call('PUT', '/api/agents/default/settings', { body: { embedding_provider: 'builtin' } })
    await passTime(app, clock, 2_000)
    expect((await app.call('GET', `${sources}/${body.id}`)).body).toMatchObject({ status: 'ready' })
    expect((await chunkIds(app)).filter(id => stored.includes(id))).toEqual([])
  })
})

describe('a provider that refuses', () => {
  it.each<[string, Reply, RegExp]>([
    ['the key', refusal(401, 'Incorrect API key'), /refused the configured key/],
    ['whoever has the key', refusal(403, 'Not in your country'), /refused the configured key/],
    ['the model', refusal(404, 'The model `m` does not exist'), /has no model "m"/],
    ['the request', refusal(400, 'input is too odd'), /refused the request/],
    ['so long a text', refusal(400, 'input exceeds the context length'), /passage is too long/],
    ['an account without credit', refusal(429, 'insufficient_quota'), /credit or quota is used up/],
  ])('%s is asked once, and the source says why it could not be processed', async (_what, reply, reason) => {
    const { app, asked } = await setStage(request => (request === 1 ? reply : undefined))
    const id = await uploadAndProcess(app, { name: 'otter.txt', content: 'Otters hold hands.' })
    const get = async () => (await app.call<Source>('GET', `${sources}/${id}`)).body
    expect(await get()).toMatchObject({ status: 'error', error: expect.stringMatching(reason) })
    expect(asked()).toHaveLength(1)

    await app.call('POST', `${sources}/${id}/refresh`)
    await app.service.infrastructure.runner.idle()
    expect(await get()).toMatchObject({ status: 'ready', chunks: 1 })
  })

  it.each<[string, Reply, number]>([
    ['to be asked so often', { ...refusal(429, 'slow down'), headers: { 'retry-after': '0' } }, 3],
    ['where a proxy has lost it for a moment', { status: 404, text: '404 page not found' }, 1],
    ['where a proxy lets nobody through for a moment', { status: 403, text: '<html>Forbidden</html>' }, 1],
    ['where its vectors are none', overflow, 1],
  ])('%s is asked again later', async (_what, reply, times) => {
    const { app, clock, asked } = await setStage(request => (request <= times ? reply : undefined))
    const { body } = await upload(app, { name: 'otter.txt', content: 'Otters hold hands.' })
    await app.service.infrastructure.runner.idle()
    const get = async () => (await app.call<Source>('GET', `${sources}/${body.id}`)).body
    expect(await get()).toMatchObject({ status: 'processing' })
    await passTime(app, clock, 2_000)
    expect(await get()).toMatchObject({ status: 'ready' })
    expect(asked()).toHaveLength(times + 1)
  })
})

describe('a search', () => {
  it('finds by words alone, and says so in the log, while the provider refuses', async () => {
    const { app } = await setStage(request => (request > 1 ? refusal(401, 'no') : undefined))
    await uploadAndProcess(app, { name: 'otter.txt', content: 'Otters hold hands.' })
    const { status, body } = await app.call<{ results: SearchResult[] }>(
      'GET',
      `${sources}/search?query=otters`,
    )
    expect(status).toBe(200)
    expect(body.results).toMatchObject([{ content: 'Otters hold hands.' }])
    expect(app.logged.some(line => line.includes('searched for by its words'))).toBe(true)
  })

  it('finds by words alone where the vector of its query is none', async () => {
    const { app } = await setStage(request => (request > 1 ? overflow : undefined))
    await uploadAndProcess(app, { name: 'otter.txt', content: 'Otters hold hands.' })
    const { body } = await app.call<{ results: SearchResult[] }>('GET', `${sources}/search?query=otters`)
    expect(body.results).toMatchObject([{ content: 'Otters hold hands.' }])
  })

  it('finds by vectors that come in another order than their texts', async () => {
    const server = await startModelServer(({ body }) => {
      const { input } = body as { input: string[] }
      const data = input.map((text, index) => ({ index, embedding: text.includes('tea') ? [1, 0] : [0, 1] }))
      return { json: { data: data.toReversed() } }
    })
    onTestFinished(() => server[Symbol.asyncDispose]())
    const app = await testApp({ environment: { ...environment, OPENAI_COMPATIBLE_BASE_URL: server.url } })
    const content = `${'tea '.repeat(20)}\n\n${'otter '.repeat(15)}`
    await uploadAndProcess(app, { name: 'both.txt', content, fields: { chunk_size: '100', overlap: '0' } })
    const { body } = await app.call<{ results: SearchResult[] }>('GET', `${sources}/search?query=swimmer`)
    expect(body.results[0]?.content).toMatch(/^otter/)
  })

  it('embeds no more of a query than a provider takes', async () => {
    const { app, asked } = await setStage(() => undefined)
    await uploadAndProcess(app, { name: 'otter.txt', content: 'Otters hold hands.' })
    await app.call('GET', `${sources}/search?query=${'o'.repeat(9_000)}`)
    expect(asked().at(-1)).toEqual(['o'.repeat(8_000)])
  })
})
