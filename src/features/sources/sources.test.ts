import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SearchResult } from '#features/knowledge/knowledge.schema.ts'
import type { ListMeta } from '#platform/http/lists/list-query.ts'
import { errorRow, limitRow, row } from '#test/spec/row.ts'
import { makeAgent } from '#test/support/agents.ts'
import { buildApp, type TestApp, testApp } from '#test/support/build-app.ts'
import { makeDocx, makeEncryptedPdf, makePdf, makeZipBombDocx } from '#test/support/documents.ts'
import { storedFiles } from '#test/support/stored-files.ts'
import { temporaryDirectory } from '#test/support/temporary-directory.ts'
import { formOf, upload, uploadAndProcess } from '#test/support/upload.ts'
import { insertSource } from './sources.repository.ts'
import type { CrawlConfig, FileConfig, Source } from './sources.schema.ts'

const sources = '/api/agents/default/sources'

let app: TestApp

beforeAll(async () => {
  app = await buildApp({ environment: { MAX_UPLOAD_BYTES: '400000' } })
})

afterAll(() => app.close())

const get = async (id: string) => (await app.call<Source>('GET', `${sources}/${id}`)).body
const search = async (query: string) =>
  (await app.call<{ results: SearchResult[] }>('GET', `${sources}/search?${query}`)).body.results
const stored = () => storedFiles(app)

describe(`uploading ${row('POST /api/agents/{id}/sources')}`, () => {
  it('answers at once, and the document is searchable when it was processed', async () => {
    const answer = await upload(app, {
      name: 'fish.txt',
      content: 'The herring migrates in spring. '.repeat(50),
    })
    expect(answer.status).toBe(201)
    expect(answer.body).toEqual({
      id: expect.any(String),
      type: 'file',
      name: 'fish.txt',
      status: 'processing',
      created_at: expect.any(String),
    })
    await app.service.infrastructure.runner.idle()
    expect(await get(answer.body.id)).toMatchObject({
      status: 'ready',
      progress: 1,
      chunks: expect.any(Number),
    })
    expect((await search('query=herring'))[0]).toMatchObject({
      source_id: answer.body.id,
      metadata: { source_name: 'fish.txt' },
    })
  })

  it('takes fields and file in any order', async () => {
    const file = new File(['Order does not matter to a form.'], 'order.txt')
    for (const parts of [
      [
        ['file', file],
        ['name', 'File first'],
        ['type', 'file'],
      ],
      [
        ['name', 'File last'],
        ['type', 'file'],
        ['file', file],
      ],
    ] as [string, string | File][][])
      expect((await app.call('POST', sources, await formOf(parts))).status).toBe(201)
    await app.service.infrastructure.runner.idle()
  })

  it('names the source after its file unless told otherwise', async () => {
    const form = await formOf([['file', new File(['Text'], 'unnamed.txt')]])
    expect((await app.call('POST', sources, form)).body).toMatchObject({ name: 'unnamed.txt' })
    await app.service.infrastructure.runner.idle()
  })

  it('cuts as the form asks, and documents what it did', async () => {
    const fields = { chunk_size: '200', overlap: '20', method: 'fixed' }
    const id = await uploadAndProcess(app, { name: 'cut.txt', content: 'word '.repeat(400), fields })
    expect(await get(id)).toMatchObject({
      config: { chunk_size: 200, overlap: 20, method: 'fixed' },
      chunks: 11,
    })
  })

  it('finds no heading without any of its text, however long that is', async () => {
    const content = `# Otters\n\n${'river '.repeat(100)}`
    const id = await uploadAndProcess(app, { name: 'headed.md', content, fields: { chunk_size: '200' } })
    const { body } = await app.call<{ results: { content: string }[] }>(
      'GET',
      `${sources}/search?query=otters&source_id=${id}`,
    )
    const found = body.results.map(result => result.content)
    expect(found).toContainEqual(expect.stringMatching(/^# Otters\n\nriver river/))
    expect(found).not.toContain('# Otters')
  })

  it.each([
    [{ chunk_size: '99' }, 'chunk_size'],
    [{ chunk_size: 'many' }, 'chunk_size'],
    [{ chunk_size: '200', overlap: '100' }, 'overlap'],
    [{ method: 'magic' }, 'method'],
    [{ type: 'crawl' }, 'type'],
    [{ name: 'x'.repeat(301) }, 'name'],
  ])(`refuses %j ${errorRow('sources', 400)}`, async (fields, field) => {
    const before = await stored()
    const form = await formOf([
      ...Object.entries({ type: 'file', ...fields }),
      ['file', new File(['Text'], 'a.txt')],
    ])
    const { status, body } = await app.call('POST', sources, form)
    expect(status).toBe(400)
    expect(body).toMatchObject({ error: { code: 'VALIDATION_ERROR', details: { field } } })
    expect(await stored()).toEqual(before)
  })

  it('refuses an empty and a missing file, and leaves nothing behind', async () => {
    const before = await stored()
    expect((await upload(app, { name: 'empty.txt', content: '' })).status).toBe(400)
    expect(
      (
        await app.call(
          'POST',
          sources,
          await formOf([
            ['type', 'file'],
            ['name', 'none'],
          ]),
        )
      ).status,
    ).toBe(400)
    expect(await stored()).toEqual(before)
  })

  it.each([
    ['picture.png', 'of the type ".png"'],
    ['archive.zip', 'of the type ".zip"'],
    ['noextension', 'without an extension'],
    ['page.html', 'of the type ".html"'],
    ['.pdf', 'without an extension'],
    ['a.pdf.exe', 'of the type ".exe"'],
  ])(`refuses %s by its name ${errorRow('sources', 415)}`, async (name, refused) => {
    const { status, body } = await upload(app, { name, content: 'x' })
    expect(status).toBe(415)
    expect(body).toMatchObject({
      error: {
        code: 'UNSUPPORTED_MEDIA_TYPE',
        message: `Files ${refused} cannot be read. Upload one of .pdf, .txt, .md, .docx, .json, .csv.`,
      },
    })
  })

  it(`refuses a file over the limit and keeps nothing of it ${errorRow('sources', 413)}`, async () => {
    const before = await stored()
    const { status, body } = await upload(app, { name: 'large.txt', content: 'x'.repeat(400_001) })
    expect(status).toBe(413)
    expect(body).toMatchObject({ error: { code: 'PAYLOAD_TOO_LARGE' } })
    expect(await stored()).toEqual(before)
    expect((await upload(app, { name: 'largest.txt', content: 'x '.repeat(200_000) })).status).toBe(201)
    await app.service.infrastructure.runner.idle()
  })

  it('takes no JSON for a form, so that no body can name a file of the server', async () => {
    const before = await stored()
    const { status, body } = await app.call('POST', sources, {
      body: { type: 'file', name: 'x', file: { path: '/etc/passwd' } },
    })
    expect(status).toBe(400)
    expect(body).toMatchObject({ error: { message: expect.stringContaining('multipart/form-data') } })
    expect(await stored()).toEqual(before)
  })

  it.each(['../../../../tmp/escaped.txt', '/etc/cron.d/escaped.txt', '..\\..\\escaped.txt', 'a\u0000b.txt'])(
    'stores %j under a name of its own',
    async name => {
      const before = await stored()
      const { status, body } = await upload(app, { name, content: 'Text of a traveller.' })
      expect(status).toBe(201)
      expect((await stored()).filter(file => !before.includes(file))).toEqual([body.id])
      await app.service.infrastructure.runner.idle()
    },
  )
})

it('takes control characters out of names', async () => {
  const { status, body } = await upload(app, { name: 'tea\u0000\u001b\udc00.txt', content: 'Green tea.' })
  expect(status).toBe(201)
  await app.service.infrastructure.runner.idle()
  const { name, status: processed, config } = await get(body.id)
  expect(processed).toBe('ready')
  const { file_name } = config as FileConfig
  for (const text of [name, file_name]) expect(text).toMatch(/^tea[^\p{Cc}\p{Cs}]*\.txt$/u)
})

describe('an agent whose embedding model lacks a key', () => {
  it('learns of it from the upload, which leaves nothing behind, and from a refresh', async () => {
    const own = await testApp()
    const id = await uploadAndProcess(own, { name: 'before.txt', content: 'Written in time.' })
    const settings = '/api/agents/default/settings'
    const refused = { status: 400, body: { error: { code: 'MODEL_NOT_CONFIGURED' } } }
    const change = { embedding_provider: 'openai' }
    expect((await own.call('PUT', settings, { body: change })).status).toBe(400)
    await own.service.infrastructure.platform
      .updateTable('agents')
      .set({ settings: JSON.stringify(change) })
      .execute()
    expect(await upload(own, { name: 'after.txt', content: 'Too late.' })).toMatchObject(refused)
    expect(await storedFiles(own)).toEqual([id])
    expect(await own.call('POST', `${sources}/${id}/refresh`)).toMatchObject(refused)
    const { body } = await own.call<{ sources: Source[] }>('GET', sources)
    expect(body.sources).toMatchObject([{ id, status: 'ready' }])
  })
})

describe('a file that cannot be read', () => {
  it.each([
    ['broken.pdf', 'This is no PDF at all', /not a PDF|damaged/i],
    ['locked.pdf', makeEncryptedPdf(), /password/i],
    ['scan.pdf', makePdf(['']), /no text/i],
    ['bomb.docx', makeZipBombDocx(300_000_000), /too (much|large)|inflate|unpack/i],
    ['fake.docx', 'PK no archive', /damaged|not a/i],
    ['broken.json', '{"a": ', /JSON/],
    ['blank.txt', ' \n\t ', /no text|empty/i],
  ])('ends in error with a sentence for a person: %s', async (name, content, reason) => {
    const id = await uploadAndProcess(app, { name, content })
    const source = await get(id)
    expect(source).toMatchObject({ status: 'error', error: expect.stringMatching(reason) })
    expect(source.error).toMatch(/^[A-Z].*[.]$/)
    expect((await app.call('GET', '/healthz')).status).toBe(200)
  })
})

describe(`reading sources ${row('GET /api/agents/{id}/sources')} ${row('GET /api/agents/{id}/sources/{sourceId}')}`, () => {
  it('lists, filters and finds them by name', async () => {
    const own = await testApp()
    const good = await uploadAndProcess(own, { name: 'good.txt', content: 'Good text.' })
    const bad = await uploadAndProcess(own, { name: 'bad.pdf', content: 'bad' })
    const list = async (query: string) =>
      (await own.call<{ sources: Source[] }>('GET', `${sources}?${query}`)).body.sources.map(({ id }) => id)
    expect(await list('sort=created_at')).toEqual([good, bad])
    expect(await list('status=ready')).toEqual([good])
    expect(await list('status=ready&status=error&sort=name')).toEqual([bad, good])
    expect(await list('search=GOOD')).toEqual([good])
    expect(await list('type=crawl')).toEqual([])
  })

  it('ends a page of the list when it is large', async () => {
    const own = await testApp()
    const pageHashes = { 'https://example.com/': 'x'.repeat(400_000) }
    const time = '2026-01-01T00:00:00.000Z'
    const config: CrawlConfig = {
      url: 'https://example.com/',
      maxPages: 1,
      maxDepth: 0,
      includePatterns: [],
      excludePatterns: [],
      useSitemap: false,
      render: 'never',
      startedAt: time,
      pageHashes,
    }
    await own.service.infrastructure.agentDatabases.use('default', async ({ db }) => {
      for (const id of ['a', 'b', 'c', 'd'])
        await insertSource(db, {
          id,
          type: 'crawl',
          name: id,
          status: 'ready',
          progress: 1,
          config,
          created_at: time,
          updated_at: time,
        })
    })
    const list = async (cursor: string) => {
      const path = `${sources}?sort=name&order=asc&cursor=${cursor}`
      const { body } = await own.call<{ sources: Source[]; meta: ListMeta }>('GET', path)
      return { ids: body.sources.map(({ id }) => id), meta: body.meta }
    }
    const first = await list('')
    expect(first.ids).toEqual(['a', 'b', 'c'])
    expect(first.meta).toMatchObject({ total: 4, has_more: true })
    const last = await list(first.meta.next_cursor ?? '')
    expect(last.ids).toEqual(['d'])
    expect(last.meta).toMatchObject({ next_cursor: null, has_more: false })
  })

  it('lists a source whose configuration cannot be read', async () => {
    const own = await testApp()
    const id = await uploadAndProcess(own, { name: 'damaged.txt', content: 'Good text.' })
    for (const config of ['{"chunk_si', '[]', '{}']) {
      await own.service.infrastructure.agentDatabases.use('default', ({ db }) =>
        db.updateTable('sources').set({ config }).where('id', '=', id).execute(),
      )
      const { status, body } = await own.call<{ sources: Source[] }>('GET', sources)
      expect(status).toBe(200)
      expect(body.sources).toMatchObject([{ id, config: { method: 'semantic', file_name: '' } }])
    }
  })

  it(`is 404 for a missing source ${errorRow('sources', 404)}`, async () => {
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/refresh'],
      ['POST', '/reindex'],
    ] as const)
      expect(await app.call(method, `${sources}/missing${path}`)).toMatchObject({
        status: 404,
        body: { error: { code: 'NOT_FOUND' } },
      })
    expect((await app.call('GET', `${sources}/search?query=x&source_id=missing`)).status).toBe(404)
  })

  it('is searched together with others that are named', async () => {
    const texts = ['Kestrels hover.', 'Kestrels nest on ledges.', 'Kestrels eat voles.']
    const ids: string[] = []
    for (const content of texts) ids.push(await uploadAndProcess(app, { name: 'kestrels.txt', content }))
    const [first, second] = ids
    const found = await search(`query=kestrels&source_id=${first}&source_id=${second}`)
    expect(found.map(({ source_id }) => source_id).toSorted()).toEqual([first, second].toSorted())
    const path = `${sources}/search?query=kestrels&source_id=${first}&source_id=missing`
    expect((await app.call('GET', path)).status).toBe(404)
  })

  it("does not reach another agent's source", async () => {
    const own = await testApp({ environment: { DEV_USER: 'dev@example.com' } })
    const id = await uploadAndProcess(own, {
      name: 'secret.txt',
      content: 'The vault code.',
      agentId: await makeAgent(own),
    })
    for (const path of [`${sources}/${id}`, `${sources}/search?query=vault&source_id=${id}`])
      expect((await own.call('GET', path)).status).toBe(404)
    expect(
      (await own.call<{ results: unknown[] }>('GET', `${sources}/search?query=vault`)).body.results,
    ).toEqual([])
  })
})

describe(`searching ${row('GET /api/agents/{id}/sources/search')} ${limitRow('page-size')}`, () => {
  it('answers the best passages first, with where they stand', async () => {
    const own = await testApp()
    const pages = [
      'Lighthouses warn ships of cliffs.',
      'Foghorns are heard in thick fog.',
      'Harbours shelter boats.',
    ]
    const id = await uploadAndProcess(own, { name: 'coast.pdf', content: makePdf(pages) })
    const find = async (query: string) =>
      (await own.call<{ results: SearchResult[] }>('GET', `${sources}/search?${query}`)).body.results
    const results = await find('query=what%20is%20heard%20in%20fog')
    expect(results[0]).toMatchObject({
      source_id: id,
      content: expect.stringContaining('Foghorns'),
      metadata: { source_name: 'coast.pdf', page: 2 },
    })
    const scores = results.map(({ score }) => score)
    expect(scores).toEqual(scores.toSorted((a, b) => b - a))
    expect(scores.every(score => score >= 0 && score <= 1)).toBe(true)
    expect(await find('query=fog&limit=1')).toHaveLength(1)
    expect((await find('query=fog&min_score=0.99')).length).toBeLessThan(results.length)
  })

  it('gives ten results unless asked for more', async () => {
    const own = await testApp()
    await uploadAndProcess(own, {
      name: 'many.txt',
      content: Array.from({ length: 200 }, (_, at) => `Sentence ${at} on badgers and setts. `).join(''),
      fields: { chunk_size: '100', overlap: '0' },
    })
    const count = async (query: string) =>
      (await own.call<{ results: unknown[] }>('GET', `${sources}/search?query=badgers${query}`)).body.results
        .length
    expect(await count('')).toBe(10)
    expect(await count('&limit=25')).toBe(25)
  })

  it.each([
    '',
    'query=',
    'query=%20',
    'query=x&limit=0',
    'query=x&limit=1001',
    'query=x&min_score=2',
    'query=x&min_score=%20',
  ])('refuses %j', async query => {
    expect((await app.call('GET', `${sources}/search?${query}`)).status).toBe(400)
  })

  it.each(['"', "' OR 1=1 --", 'NEAR(a b)', '*', 'content:x', 'a AND', '^', '(((', '\u0001', '💥', 'a"b"c'])(
    'takes %j as words',
    async query => {
      expect((await app.call('GET', `${sources}/search?query=${encodeURIComponent(query)}`)).status).toBe(200)
    },
  )
})

describe('processing anew', () => {
  it.each(['refresh', 'reindex'] as const)(
    `by %s keeps the source searchable and ends ready ${row('POST /api/agents/{id}/sources/{sourceId}/refresh')} ${row('POST /api/agents/{id}/sources/{sourceId}/reindex')}`,
    async verb => {
      const id = await uploadAndProcess(app, {
        name: 'again.md',
        content: '# Otters\n\nOtters hold hands while they sleep.',
      })
      const { status, body } = await app.call('POST', `${sources}/${id}/${verb}`)
      expect(status).toBe(200)
      expect(body).toEqual({ id, type: 'file', status: 'updating', message: expect.any(String) })
      expect(await search(`query=otters&source_id=${id}`)).toHaveLength(1)
      await app.service.infrastructure.runner.idle()
      expect(await get(id)).toMatchObject({ status: 'ready', chunks: 1 })
      expect(await search(`query=otters&source_id=${id}`)).toHaveLength(1)
    },
  )

  it(`is refused while the source is in work ${errorRow('sources', 409)}`, async () => {
    const { body } = await upload(app, { name: 'busy.txt', content: 'Busy text.' })
    const { status } = await app.call('POST', `${sources}/${body.id}/refresh`)
    expect(status).toBe(409)
    await app.service.infrastructure.runner.idle()
  })
})

describe(`deleting ${row('DELETE /api/agents/{id}/sources/{sourceId}')}`, () => {
  it('takes the file and all that was found in it away', async () => {
    const content = await makeDocx([
      { heading: 'Walruses' },
      { text: 'Walruses use their tusks to climb onto ice.' },
    ])
    const id = await uploadAndProcess(app, { name: 'walrus.docx', content })
    expect((await search('query=walrus%20tusks')).map(({ source_id }) => source_id)).toContain(id)
    expect(await stored()).toContain(id)
    expect(await app.call('DELETE', `${sources}/${id}`)).toMatchObject({
      status: 200,
      body: { success: true },
    })
    expect((await search('query=walrus%20tusks')).map(({ source_id }) => source_id)).not.toContain(id)
    await app.service.infrastructure.runner.idle()
    expect(await stored()).not.toContain(id)
  })

  it('takes the source out of sight at once, and apart later, also by the next process', async () => {
    const dataDirectory = temporaryDirectory()
    const before = await testApp({ dataDirectory })
    const id = await uploadAndProcess(before, { name: 'hidden.txt', content: 'Narwhals have a tusk.' })
    await before.service.infrastructure.runner.stop(1000)
    expect((await before.call('DELETE', `${sources}/${id}`)).body).toEqual({ success: true })
    expect(await before.call('GET', sources)).toMatchObject({ body: { sources: [], meta: { total: 0 } } })
    const found = `${sources}/search?query=narwhals`
    expect((await before.call('GET', found)).body).toEqual({ results: [] })
    for (const [method, path] of [
      ['GET', `${sources}/${id}`],
      ['GET', `${found}&source_id=${id}`],
      ['POST', `${sources}/${id}/refresh`],
      ['DELETE', `${sources}/${id}`],
    ] as const)
      expect((await before.call(method, path)).status).toBe(404)
    const left = async (from: TestApp) =>
      await from.service.infrastructure.agentDatabases.use('default', async ({ db }) => ({
        sources: (await db.selectFrom('sources').select('id').execute()).length,
        chunks: (await db.selectFrom('chunks').select('id').execute()).length,
        generations: (await db.selectFrom('chunk_generations').select('source_id').execute()).length,
        files: (await storedFiles(from)).length,
      }))
    expect(await left(before)).toEqual({ sources: 1, chunks: 1, generations: 1, files: 1 })
    await before.close()

    const after = await testApp({ dataDirectory })
    await after.service.infrastructure.runner.idle()
    expect(await left(after)).toEqual({ sources: 0, chunks: 0, generations: 0, files: 0 })
  })

  it('ends processing that is under way', async () => {
    const { body } = await upload(app, { name: 'short-lived.txt', content: 'A long text. '.repeat(20_000) })
    expect((await app.call('DELETE', `${sources}/${body.id}`)).status).toBe(200)
    await app.service.infrastructure.runner.idle()
    expect((await app.call('GET', `${sources}/${body.id}`)).status).toBe(404)
    expect(await stored()).not.toContain(body.id)
  })
})

describe('an answer from a document', () => {
  it('quotes the passage and names its source and page', async () => {
    const own = await testApp()
    await uploadAndProcess(own, {
      name: 'boiler.pdf',
      content: makePdf(['Contents', 'Bleed the valve with a square key every autumn.']),
    })
    const { body } = await own.call<{ assistantMessage: { content: string } }>(
      'POST',
      '/api/agents/default/chat',
      {
        body: { content: 'How do I bleed the valve?' },
      },
    )
    expect(body.assistantMessage.content).toContain('square key')
    expect(body.assistantMessage.content).toContain('boiler.pdf')
    expect(body.assistantMessage.content).toContain('page 2')
  })

  it('does not say that no document fits where none was looked at', async () => {
    const own = await testApp()
    await uploadAndProcess(own, { name: 'boiler.txt', content: 'Bleed the valve with a square key.' })
    const { body } = await own.call<{ assistantMessage: { content: string } }>(
      'POST',
      '/api/agents/default/chat',
      { body: { content: 'How do I bleed the valve?', autoRag: false, enableTools: false } },
    )
    expect(body.assistantMessage.content).toContain('Nothing that I was given fits that question')
  })
})
