import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DocumentText } from '#features/knowledge/document-text.service.ts'
import type { SearchResult } from '#features/knowledge/knowledge.schema.ts'
import { makeAgent } from '#test/support/agents.ts'
import { buildApp, type TestApp, testApp } from '#test/support/build-app.ts'
import { crawl, forCrawls } from '#test/support/crawl.ts'
import { makePdf } from '#test/support/documents.ts'
import { sitePages, startSite } from '#test/support/site-server.ts'
import { uploadAndProcess } from '#test/support/upload.ts'

const sources = '/api/agents/default/sources'

let app: TestApp

beforeAll(async () => {
  app = await buildApp({ environment: { ...forCrawls, DEV_USER: 'ada@example.com' } })
  await app.service.app.listen({ port: 0 })
})

afterAll(() => app.close())

/** Over a socket: the bytes, and the headers as they are sent. */
async function get(path: string, { range, method = 'GET' }: { range?: string; method?: string } = {}) {
  const { port } = app.service.app.server.address() as AddressInfo
  const headers = range === undefined ? {} : { range }
  const answer = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
    request({ port, path, method, headers }, resolve).on('error', reject).end()
  })
  const body = Buffer.concat(await Array.fromAsync(answer as AsyncIterable<Buffer>))
  return { status: answer.statusCode, headers: answer.headers, body }
}

async function textOf(id: string, query = '', agentId = 'default') {
  return app.call<DocumentText>('GET', `/api/agents/${agentId}/sources/${id}/text${query}`)
}

describe(`the file of a source`, () => {
  const content = Buffer.from('Herring migrates in spring, and mackerel in summer.')
  const { length } = content

  it('is sent for saving, and can do nothing in a browser', async () => {
    const id = await uploadAndProcess(app, { name: 'Fische (3) & Öl.txt', content })
    const { status, headers, body } = await get(`${sources}/${id}/file`)
    expect([status, body.toString()]).toEqual([200, content.toString()])
    expect(headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename*=UTF-8''Fische%20%283%29%20%26%20%C3%96l.txt`,
      'content-length': String(length),
      'accept-ranges': 'bytes',
      'content-security-policy': 'sandbox',
      'x-content-type-options': 'nosniff',
    })
    const head = await get(`${sources}/${id}/file`, { method: 'HEAD' })
    expect([head.status, head.headers['content-length'], head.body.length]).toEqual([200, String(length), 0])
  })

  it.each([
    ['bytes=0-6', 206, [0, 7]],
    ['bytes=8-', 206, [8, length]],
    ['bytes=-7', 206, [length - 7, length]],
    ['bytes=-9999', 206, [0, length]],
    ['bytes=40-9999', 206, [40, length]],
    [`bytes=${length - 1}-`, 206, [length - 1, length]],
    ['Bytes= 0-0', 206, [0, 1]],
    ['bytes=0-1,4-5', 200, [0, length]],
    ['bytes=5-2', 200, [0, length]],
    ['bytes=-', 200, [0, length]],
    ['lines=0-1', 200, [0, length]],
    [`bytes=${length}-`, 416, []],
    ['bytes=-0', 416, []],
    [`bytes=${'9'.repeat(400)}-`, 416, []],
  ] as const)('is sent in part: %s', async (range, status, [start, end]) => {
    const id = await uploadAndProcess(app, { name: 'fish.txt', content })
    const answer = await get(`${sources}/${id}/file`, { range })
    expect(answer.status).toBe(status)
    if (status !== 416) expect(answer.body.toString()).toBe(content.subarray(start, end).toString())
    const places = {
      200: undefined,
      206: `bytes ${start}-${(end ?? 0) - 1}/${length}`,
      416: `bytes */${length}`,
    }
    expect(answer.headers['content-range']).toBe(places[status])
  })

  it('is there for files alone, and for callers of their agent', async () => {
    const id = await uploadAndProcess(app, { name: 'fish.txt', content })
    const other = await makeAgent(app)
    const body = { type: 'database', name: 'Rows', query: 'SELECT 1 AS one' }
    const rows = await app.call<{ id: string }>('POST', sources, { body })
    await app.service.infrastructure.runner.idle()
    for (const path of [
      `/api/agents/${other}/sources/${id}/file`,
      `${sources}/none/file`,
      `${sources}/${rows.body.id}/file`,
    ])
      expect(await app.call('GET', path)).toMatchObject({
        status: 404,
        body: { error: { code: 'NOT_FOUND' } },
      })
    expect((await app.call('DELETE', `${sources}/${id}`)).status).toBe(200)
    expect((await app.call('GET', `${sources}/${id}/file`)).status).toBe(404)
  })
})

describe(`the text of a source`, () => {
  const paragraph = (number: number) => `Paragraph ${number}. ${'The sea is wide. '.repeat(12).trim()}`
  const long = (count: number) => Array.from({ length: count }, (_, at) => paragraph(at)).join('\n\n')
  const words = (text: string) => text.split(/\s+/)

  it.each([
    ['text', 'sea.txt', long(40), 40],
    ['Markdown', 'sea.md', `# Sea\n\n${long(20)}\n\n## More\n\n${long(3)}`, 23],
    ['fixed windows', 'fixed.txt', long(30), 30],
    ['pages', 'pages.pdf', makePdf(['Tides of one.', 'Tides of two.', 'Tides of three.']), 0],
    ['nothing but a word', 'word.txt', '\n\n  Tide 😉  \n', 0],
  ])('has every word, and each passage where it says: %s', async (kind, name, content, paragraphs) => {
    const fields: Record<string, string> =
      kind === 'fixed windows' ? { method: 'fixed', chunk_size: '333' } : {}
    const id = await uploadAndProcess(app, { name, content, fields })
    const { text, start, end, length, passages } = (await textOf(id)).body
    expect([start, end, text.length]).toEqual([0, length, length])
    if (typeof content === 'string') expect(words(text.trim())).toEqual(words(content.trim()))
    expect(text.match(/Paragraph/g)?.length ?? 0).toBe(paragraphs)
    const found = await app.call<{ results: SearchResult[] }>(
      'GET',
      `${sources}/search?source_id=${id}&limit=50&query=${encodeURIComponent('sea tides tide paragraph')}`,
    )
    expect(found.body.results.length).toBeGreaterThan(0)
    for (const result of found.body.results) {
      const { start, end, page, section } = result.metadata
      expect(text.slice(start, end)).toBe(result.content)
      expect(passages).toContainEqual({ id: result.id, start, end, page, section })
    }
  })

  it('comes in parts that fit together', async () => {
    const id = await uploadAndProcess(app, { name: 'long.txt', content: long(700) })
    const whole: string[] = []
    let at = 0
    for (;;) {
      const { body } = await textOf(id, `?start=${at}`)
      expect(body.text.length).toBe(body.end - body.start)
      whole.push(body.text)
      at = body.end
      if (at === body.length) break
      expect(body.text.length).toBe(100_000)
    }
    expect(words(whole.join(''))).toEqual(words(long(700)))
    const { body } = await textOf(id, '?start=50000&end=50100')
    expect(body.text).toBe(whole.join('').slice(50_000, 50_100))
    for (const { start, end } of body.passages) expect([start < 50_100, end > 50_000]).toEqual([true, true])
    expect(body.passages.length).toBeGreaterThan(0)
    for (const query of ['?start=99999999', '?start=5&end=5'])
      expect((await textOf(id, query)).body).toMatchObject({ text: '', passages: [] })
    for (const query of ['?start=-1', '?start=x', '?end=1.5', '?start=9&end=8', '?url=http://a.b/'])
      expect(await textOf(id, query), query).toMatchObject({ status: 400 })
  })

  it('is that of one page of a website', async () => {
    const pages = {
      '/': '<p>Start of the tour.</p><a href="/two">on</a>',
      '/two': '<p>Herring is fished here.</p>',
    }
    await using site = await startSite(sitePages(pages))
    const { id } = await crawl(app, { url: site.url })
    const url = encodeURIComponent(new URL('/two', site.url).href)
    expect((await textOf(id, `?url=${url}`)).body).toMatchObject({
      text: expect.stringContaining('Herring is fished here.'),
      passages: [{ start: 0 }],
    })
    expect(await textOf(id)).toMatchObject({ status: 400, body: { error: { details: { field: 'url' } } } })
    expect(await textOf(id, `?url=${url}x`)).toMatchObject({ status: 404 })
  })

  it('is empty before there is one, and not there for other agents', async () => {
    const { call, service, ...others } = await testApp()
    const own = { call, service, ...others }
    const id = await uploadAndProcess(own, { name: 'broken.pdf', content: 'no PDF' })
    const path = `${sources}/${id}/text`
    expect((await call('GET', path)).body).toEqual({ start: 0, end: 0, length: 0, text: '', passages: [] })
    const other = await makeAgent(app)
    const elsewhere = await uploadAndProcess(app, { name: 'fish.txt', content: 'Herring' })
    expect(await textOf(elsewhere, '', other)).toMatchObject({ status: 404 })
    expect(await textOf('none')).toMatchObject({ status: 404 })
  })
})
