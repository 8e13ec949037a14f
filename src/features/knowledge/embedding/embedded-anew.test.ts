import { sql } from 'kysely'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Source } from '#features/sources/sources.schema.ts'
import { buildApp, type TestApp, testApp } from '#test/support/build-app.ts'
import { fetchedSource, refreshed } from '#test/support/fetched-source.ts'
import { manualClock } from '#test/support/manual-clock.ts'
import { type RecordedRequest, type Reply, startModelServer } from '#test/support/model-server.ts'
import { passTime } from '#test/support/pass-time.ts'
import { makeTemporaryDirectory } from '#test/support/temporary-directory.ts'
import { uploadAndProcess } from '#test/support/upload.ts'
import type { SearchResult } from '../knowledge.schema.ts'

const sources = '/api/agents/default/sources'
const settings = '/api/agents/default/settings'

interface Asked {
  model: string
  input: string[]
}

/** Embeds texts by how much they are about otters, in two dimensions; `reply` may do otherwise. */
async function setProvider(
  reply: (asked: Asked, number: number) => Reply | Promise<Reply | undefined> | undefined,
) {
  const server = await startModelServer(async (request, index) => {
    const asked = askedOf(request)
    return (
      (await reply(asked, index + 1)) ?? {
        json: {
          object: 'list',
          data: asked.input.map((text, at) => ({ index: at, embedding: vectorOf(asked.model, text) })),
          model: asked.model,
          usage: { prompt_tokens: 1, total_tokens: 1 },
        },
      }
    )
  })
  onTestFinished(() => server[Symbol.asyncDispose]())
  return {
    environment: { OPENAI_COMPATIBLE_BASE_URL: server.url },
    asked: () => server.requests.map(askedOf),
    texts: (model: string) =>
      server.requests.map(askedOf).flatMap(asked => (asked.model === model ? asked.input : [])),
  }
}

const askedOf = ({ body }: RecordedRequest) => body as Asked
/** The spaces of two models have nothing in common: what is near in one is far in the other. */
function vectorOf(model: string, text: string): number[] {
  const isSwimmer = /otter|swimmer/i.test(text)
  return (model === 'other') === isSwimmer ? [1, 0.1] : [0.1, 1]
}

const use = (
  app: TestApp,
  embedding_model: string | null,
  embedding_provider: string | null = 'openai-compatible',
) => app.call('PUT', settings, { body: { embedding_provider, embedding_model } })
const sourceOf = async (app: TestApp, id: string) => (await app.call<Source>('GET', `${sources}/${id}`)).body
const found = async (app: TestApp, query: string) => {
  const { status, body } = await app.call<{ results: SearchResult[] }>(
    'GET',
    `${sources}/search?query=${query}`,
  )
  expect(status).toBe(200)
  return body.results.map(({ content }) => content)
}

/** Numbers of vectors, in the order of the embeddings' names; those without any left out. */
async function vectorCounts(app: TestApp): Promise<Record<string, number>> {
  return await app.service.infrastructure.agentDatabases.use('default', async agent => {
    const { withAgentDatabase } = await import('../indexing/agent-database.ts')
    const { isTableOf } = await import('#storage/search/vector-space.ts')
    return await withAgentDatabase(agent.path, { readOnly: true }, async ({ db, engine }) => {
      const counts: Record<string, number> = {}
      const ids = { builtin: 'builtin-1', m: 'openai-compatible/m', other: 'openai-compatible/other' }
      for (const table of await engine.vectorTables(db)) {
        const name = Object.entries(ids).find(([, id]) => isTableOf(table, id))?.[0] ?? table
        const { rows } = await sql<{
          count: number
        }>`select count(*) as count from ${sql.table(table)}`.execute(db)
        if (Number(rows[0]?.count) > 0) counts[name] = Number(rows[0]?.count)
      }
      return counts
    })
  })
}

const many = (count: number) => ({
  name: 'tea.txt',
  content: Array.from({ length: count }, (_, at) => `${'tea '.repeat(20)}${at}.`).join('\n\n'),
  fields: { chunk_size: '100', overlap: '0' },
})
const otters = { name: 'otters.txt', content: 'Otters hold hands.' }
const tea = { name: 'tea.txt', content: 'Green tea is steamed.' }

describe('a change of the embedding model', () => {
  it('gives all sources new vectors, of the same chunks, and removes the old ones', async () => {
    const { environment, texts } = await setProvider(() => undefined)
    const app = await testApp({ environment })
    const ids = [await uploadAndProcess(app, otters), await uploadAndProcess(app, tea)]
    expect(await vectorCounts(app)).toEqual({ builtin: 2 })
    expect((await use(app, 'm')).status).toBe(200)
    await app.service.infrastructure.runner.idle()
    for (const id of ids)
      expect(await sourceOf(app, id)).toMatchObject({ status: 'ready', progress: 1, chunks: 1 })
    expect(await vectorCounts(app)).toEqual({ m: 2 })
    expect(texts('m').toSorted()).toEqual([tea.content, otters.content])
    // No word in common: only the new vectors can tell.
    expect((await found(app, 'swimmer'))[0]).toBe(otters.content)

    await use(app, null, null)
    await app.service.infrastructure.runner.idle()
    expect(await vectorCounts(app)).toEqual({ builtin: 2 })
    expect((await found(app, 'ottters'))[0]).toBe(otters.content)
  })

  it('is seen by the first search after it, whatever the one before it went by', async () => {
    const { environment } = await setProvider(() => undefined)
    const app = await testApp({ environment })
    for (const document of [otters, tea]) await uploadAndProcess(app, document)
    expect((await found(app, 'ottters'))[0]).toBe(otters.content)
    for (const model of ['m', 'other']) {
      await use(app, model)
      await app.service.infrastructure.runner.idle()
      expect((await found(app, 'swimmer'))[0]).toBe(otters.content)
    }
    await use(app, null, null)
    await app.service.infrastructure.runner.idle()
    expect((await found(app, 'ottters'))[0]).toBe(otters.content)
  })

  it('is none where the model stays the same', async () => {
    const { environment, asked } = await setProvider(() => undefined)
    const app = await testApp({ environment })
    await use(app, 'm')
    const id = await uploadAndProcess(app, otters)
    const before = await sourceOf(app, id)
    await use(app, 'm')
    await app.call('PUT', settings, { body: { system_prompt: 'Be brief.' } })
    await app.service.infrastructure.runner.idle()
    expect(await sourceOf(app, id)).toEqual(before)
    expect(asked()).toHaveLength(1)
  })

  it('leaves search as it was until a source is done, and shows how far it has come', async () => {
    const during: Source[] = []
    const results: string[][] = []
    const { environment } = await setProvider(async ({ model, input }) => {
      if (model === 'other' && input.length > 1) {
        during.push(await sourceOf(app, id))
        results.push(await found(app, 'swimmer'))
      }
      return undefined
    })
    const app = await testApp({ environment })
    await use(app, 'm')
    await uploadAndProcess(app, otters)
    const id = await uploadAndProcess(app, many(200))
    await use(app, 'other')
    await app.service.infrastructure.runner.idle()
    expect(during.map(({ status }) => status)).toEqual(during.map(() => 'updating'))
    const progress = during.map(source => source.progress)
    expect(progress).toEqual(progress.toSorted((one, next) => one - next))
    expect(progress.at(-1)).toBeGreaterThan(0.5)
    // The first source is in the new space already, and the second one still in the old.
    expect(results.length).toBeGreaterThan(2)
    for (const contents of results) expect(contents[0]).toBe(otters.content)
    expect(await vectorCounts(app)).toEqual({ other: 201 })
  })

  it('goes on where it was interrupted, and embeds no text again whose vector is there', async () => {
    const { environment, texts } = await setProvider(({ model, input }, number) =>
      model === 'm' && input.length < 96 && number === 3 ? { json: {} } : undefined,
    )
    const clock = manualClock()
    const app = await testApp({ environment, clock })
    const id = await uploadAndProcess(app, many(200))
    await use(app, 'm')
    await app.service.infrastructure.runner.idle()
    expect(await sourceOf(app, id)).toMatchObject({ status: 'updating', progress: expect.closeTo(0.96) })
    expect(await vectorCounts(app)).toEqual({ builtin: 200, m: 192 })
    await passTime(app, clock, 2_000)
    expect(await sourceOf(app, id)).toMatchObject({ status: 'ready' })
    expect(await vectorCounts(app)).toEqual({ m: 200 })
    // The last part was asked for twice, since the first answer to it held nothing.
    expect(texts('m')).toHaveLength(200 + 8)
    expect(new Set(texts('m')).size).toBe(200)
  })

  it('that is taken back while it goes on leaves everything as it was', async () => {
    let back: Promise<unknown> | undefined
    const { environment, texts } = await setProvider(({ model }) => {
      if (model === 'other') back ??= use(app, 'm')
      return back?.then(() => undefined)
    })
    const app = await testApp({ environment })
    await use(app, 'm')
    const id = await uploadAndProcess(app, many(200))
    const before = await sourceOf(app, id)
    await use(app, 'other')
    await app.service.infrastructure.runner.idle()
    expect(await vectorCounts(app)).toEqual({ m: 200 })
    expect(texts('m')).toHaveLength(200)
    expect(await sourceOf(app, id)).toEqual({ ...before, updated_at: expect.any(String) })
  })

  it('ends in an error that is true when the provider fails for good, and begins anew with the next change', async () => {
    const { environment } = await setProvider(({ model }) =>
      model === 'm' ? { status: 404, json: { error: { message: 'no such model' } } } : undefined,
    )
    const app = await testApp({ environment })
    const id = await uploadAndProcess(app, otters)
    await use(app, 'm')
    await app.service.infrastructure.runner.idle()
    const failed = await sourceOf(app, id)
    expect(failed).toMatchObject({
      status: 'error',
      error: expect.stringMatching(
        /^This source could not be embedded by openai-compatible\/m: .*It is found as before\./,
      ),
    })
    expect(await found(app, 'ottters')).toEqual([otters.content])
    await use(app, 'other')
    await app.service.infrastructure.runner.idle()
    const { error: _, ...healed } = {
      ...failed,
      status: 'ready',
      progress: 1,
      updated_at: expect.any(String),
    }
    expect(await sourceOf(app, id)).toEqual(healed)
    expect(await vectorCounts(app)).toEqual({ other: 1 })
  })

  it('is tried again at once when the settings are sent again, however long it would wait after failures', async () => {
    let isDown = true
    const { environment } = await setProvider(() => (isDown ? { json: {} } : undefined))
    const clock = manualClock()
    const app = await testApp({ environment, clock })
    const id = await uploadAndProcess(app, otters)
    await use(app, 'm')
    await app.service.infrastructure.runner.idle()
    expect(await sourceOf(app, id)).toMatchObject({ status: 'updating' })
    isDown = false
    // Without the clock moving.
    await use(app, 'm')
    await app.service.infrastructure.runner.idle()
    expect(await sourceOf(app, id)).toMatchObject({ status: 'ready' })
    expect(await vectorCounts(app)).toEqual({ m: 1 })
  })

  it('that waits after failures is given up at once when it is taken back', async () => {
    const { environment } = await setProvider(() => ({ json: {} }))
    const app = await testApp({ environment, clock: manualClock() })
    const id = await uploadAndProcess(app, otters)
    await use(app, 'm')
    await app.service.infrastructure.runner.idle()
    expect(await sourceOf(app, id)).toMatchObject({ status: 'updating' })
    await use(app, null, null)
    await app.service.infrastructure.runner.idle()
    expect(await sourceOf(app, id)).toMatchObject({ status: 'ready' })
    expect(await vectorCounts(app)).toEqual({ builtin: 1 })
  })

  it('forgets the error when it is taken back', async () => {
    const { environment } = await setProvider(() => ({ status: 404, json: { error: { message: 'no' } } }))
    const app = await testApp({ environment })
    const id = await uploadAndProcess(app, otters)
    await use(app, 'm')
    await app.service.infrastructure.runner.idle()
    expect((await sourceOf(app, id)).status).toBe('error')
    await use(app, null, null)
    await app.service.infrastructure.runner.idle()
    expect(await sourceOf(app, id)).toMatchObject({ status: 'ready' })
    expect(await sourceOf(app, id)).not.toHaveProperty('error')
  })

  it('reaches a source that could not be fetched anew, too, which goes on telling why', async () => {
    const { environment } = await setProvider(() => undefined)
    const app = await testApp({ environment })
    const change = (statement: string) =>
      app.service.infrastructure.agentDatabases.use('default', ({ db }) => sql.raw(statement).execute(db))
    await change('create table moons (name text)')
    await change("insert into moons values ('Callisto')")
    const { id } = await fetchedSource(app, { type: 'database', name: 'Moons', query: 'SELECT * FROM moons' })
    await change('drop table moons')
    const broken = await refreshed(app, id)
    expect(broken.status).toBe('error')
    await use(app, 'm')
    await app.service.infrastructure.runner.idle()
    expect(await vectorCounts(app)).toEqual({ m: 1 })
    expect(await sourceOf(app, id)).toEqual({ ...broken, progress: 1, updated_at: expect.any(String) })
  })

  it('is refused where the new provider has no key, and search goes on', async () => {
    const app = await testApp()
    await uploadAndProcess(app, otters)
    const { status, body } = await app.call('PUT', settings, { body: { embedding_provider: 'openai' } })
    expect(status).toBe(400)
    expect(body).toMatchObject({ error: { code: 'MODEL_NOT_CONFIGURED' } })
    expect(await found(app, 'otters')).toEqual([otters.content])
  })

  it('goes past a source that is deleted meanwhile', async () => {
    let gone: Promise<unknown> | undefined
    const { environment } = await setProvider(({ input }) => {
      if (input.length > 1) gone ??= app.call('DELETE', `${sources}/${id}`)
      return gone?.then(() => undefined)
    })
    const clock = manualClock()
    const app = await testApp({ environment, clock })
    const id = await uploadAndProcess(app, many(200))
    clock.advance(1_000)
    const later = await uploadAndProcess(app, otters)
    await use(app, 'm')
    await app.service.infrastructure.runner.idle()
    await passTime(app, clock, 2_000)
    expect(await sourceOf(app, later)).toMatchObject({ status: 'ready' })
    expect(await vectorCounts(app)).toEqual({ m: 1 })
  })
})

describe('another embedding model of the platform', () => {
  it('is followed after a later start, once', async () => {
    const { environment, asked } = await setProvider(() => undefined)
    const directory = makeTemporaryDirectory()
    onTestFinished(directory.remove)
    const dataDirectory = directory.path
    const first = await buildApp({ dataDirectory })
    const id = await uploadAndProcess(first, otters)
    await first.close()
    const changed = { ...environment, EMBEDDING_PROVIDER: 'openai-compatible', EMBEDDING_MODEL: 'm' }
    for (const _ of ['second', 'third']) {
      const app = await buildApp({ dataDirectory, environment: changed })
      await app.service.caughtUp
      await app.service.infrastructure.runner.idle()
      expect(await sourceOf(app, id)).toMatchObject({ status: 'ready' })
      expect(await vectorCounts(app)).toEqual({ m: 1 })
      await app.close()
    }
    expect(asked()).toHaveLength(1)
  })

  it('that cannot be had is told of in the log, and leaves search as it was', async () => {
    const directory = makeTemporaryDirectory()
    onTestFinished(directory.remove)
    const first = await buildApp({ dataDirectory: directory.path })
    await uploadAndProcess(first, otters)
    await first.close()
    const app = await testApp({
      dataDirectory: directory.path,
      environment: { EMBEDDING_PROVIDER: 'openai' },
    })
    await app.service.caughtUp
    expect(app.logged.join('')).toMatch(/Documents cannot be embedded .* set openai_api_key/)
    expect(await found(app, 'ottters')).toEqual([otters.content])
  })
})
