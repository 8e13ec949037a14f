import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { errorRow, row } from '#test/spec/row.ts'
import { makeAgent } from '#test/support/agents.ts'
import { buildApp, type TestApp, testApp } from '#test/support/build-app.ts'
import { makeDocx, makePdf } from '#test/support/documents.ts'
import {
  createSource,
  fetchedSource,
  passages,
  refreshed,
  settled,
  sources,
} from '#test/support/fetched-source.ts'
import { type AnswerSite, page, type Site, type SiteAnswer, startSite } from '#test/support/site-server.ts'
import { temporaryDirectory } from '#test/support/temporary-directory.ts'

const reachable = { OUTBOUND_ALLOW: '127.0.0.1' }
const secret = 'Bearer sk-tides-4711'
const mask = '********'

let app: TestApp

beforeAll(async () => {
  app = await buildApp({ environment: { ...reachable, MAX_UPLOAD_BYTES: '400000' } })
})

afterAll(() => app.close())

async function siteOf(answer: AnswerSite): Promise<Site> {
  const site = await startSite(answer)
  onTestFinished(() => site[Symbol.asyncDispose]())
  return site
}

const json = (value: unknown, headers: Record<string, string> = {}): SiteAnswer => ({
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(value),
})
const api = (url: string, headers?: Record<string, string>) => ({
  type: 'api',
  name: 'Tides',
  url,
  ...(headers && { headers }),
})
const chunkIds = () =>
  app.service.infrastructure.agentDatabases.use('default', async ({ db }) =>
    (await db.selectFrom('chunks').select('id').orderBy('id').execute()).map(({ id }) => id),
  )

describe(`an address as a source ${row('POST /api/agents/{id}/sources')}`, () => {
  it('answers at once, sends the headers, and what it is answered with is searchable', async () => {
    const site = await siteOf(() => json({ harbour: 'Zweidorf', height: '3.2 m' }))
    const headers = { Authorization: secret, Accept: 'application/json' }
    const answer = await createSource(app, api(`${site.url}/tides?day=1#top`, headers))
    expect(answer.status).toBe(201)
    expect(answer.body).toEqual({
      id: expect.any(String),
      type: 'api',
      name: 'Tides',
      status: 'processing',
      created_at: expect.any(String),
    })
    const source = await settled(app, answer.body.id)
    expect(source).toMatchObject({
      type: 'api',
      status: 'ready',
      progress: 1,
      chunks: 1,
      config: {
        url: `${site.url}/tides?day=1`,
        headers: { Authorization: mask, Accept: 'application/json' },
        chunk_size: 1000,
        fetched_at: expect.any(String),
      },
    })
    expect(site.requests.map(({ path, headers: { authorization } }) => [path, authorization])).toEqual([
      ['/tides?day=1', secret],
    ])
    expect(site.requests[0]?.headers['user-agent']).toMatch(/^agentstead /)
    expect(await passages(app, source.id, 'Zweidorf')).toEqual(['{"harbour":"Zweidorf","height":"3.2 m"}'])
  })

  it.each<[string, string, string | Uint8Array, string]>([
    ['application/json', '/a', '{"place": "Zweidorf"}', '"Zweidorf"'],
    ['application/vnd.api+json', '/a', '{"place": "Zweidorf"}', '"Zweidorf"'],
    ['application/json', '/a', '{"note": "Tides\\nZweidorf, F\\u00e4hre"}', 'Zweidorf, Fähre'],
    ['application/x-ndjson', '/a', '{"place": 1}\n{"place": "Zweidorf"}\n', '"Zweidorf"'],
    ['text/csv; charset=utf-8', '/a', 'place,height\nZweidorf,3\nDreidorf,4\n', 'Zweidorf,3'],
    ['text/plain', '/a', 'The harbour of Zweidorf.', 'harbour of Zweidorf'],
    ['text/plain; charset=iso-8859-1', '/a', Buffer.from('Zweidorf: Fähre', 'latin1'), 'Fähre'],
    ['text/plain', '/list.csv', 'place;height\nZweidorf;3\nDreidorf;4\n', 'Zweidorf;3'],
    ['text/markdown', '/a', '# Tides\n\nThose of **Zweidorf**.', 'Zweidorf'],
    ['application/xml', '/a', '<place>Zweidorf</place>', 'Zweidorf'],
    ['text/html', '/a', page('Tides', ['/b'], 'Zweidorf has two.'), 'Zweidorf has two.'],
    ['application/pdf', '/a', makePdf(['Zweidorf in a PDF']), 'Zweidorf in a PDF'],
    ['application/octet-stream', '/a/list.pdf', makePdf(['Zweidorf in a PDF']), 'Zweidorf in a PDF'],
  ])('reads %s at %s', async (type, path, body, expected) => {
    const site = await siteOf(() => ({ headers: { 'content-type': type }, body }))
    const source = await fetchedSource(app, api(site.url + path))
    expect(source).toMatchObject({ status: 'ready' })
    expect((await passages(app, source.id, 'Zweidorf')).join()).toContain(expected)
  })

  it('reads Word documents', async () => {
    const body = await makeDocx([{ text: 'Zweidorf in Word' }])
    const type = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'
    const site = await siteOf(() => ({ headers: { 'content-type': type }, body }))
    const { id } = await fetchedSource(app, api(site.url))
    expect(await passages(app, id, 'Zweidorf')).toEqual(['Zweidorf in Word'])
  })

  it('is the same as it was when its server says so, and is not indexed again', async () => {
    const site = await siteOf(({ headers }) =>
      headers['if-none-match'] === '"one"' ? { status: 304 } : json(['Zweidorf'], { etag: '"one"' }),
    )
    const { id, config } = await fetchedSource(app, api(site.url))
    const before = await chunkIds()
    const again = await refreshed(app, id)
    expect(again).toMatchObject({ status: 'ready', chunks: 1, progress: 1 })
    expect(site.requests.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"one"'])
    expect(await chunkIds()).toEqual(before)
    expect(Date.parse(again.config.fetched_at ?? '')).toBeGreaterThanOrEqual(
      Date.parse(config.fetched_at ?? ''),
    )
    await refreshed(app, id, 'reindex')
    expect(site.requests.at(-1)?.headers['if-none-match']).toBe('"one"')
  })

  it('is asked by its date where it has no tag', async () => {
    const date = 'Sat, 21 Nov 2026 10:00:00 GMT'
    const site = await siteOf(({ headers }) =>
      headers['if-modified-since'] === date ? { status: 304 } : json(['Zweidorf'], { 'last-modified': date }),
    )
    const { id } = await fetchedSource(app, api(site.url))
    expect(await refreshed(app, id)).toMatchObject({ status: 'ready', chunks: 1 })
    expect(site.requests).toHaveLength(2)
  })

  it('is not indexed again when the same comes without tag or date, and is when it differs', async () => {
    let tide = 'spring tide'
    const site = await siteOf(() => json({ tide }))
    const { id } = await fetchedSource(app, api(site.url))
    const before = await chunkIds()
    await refreshed(app, id)
    expect(await chunkIds()).toEqual(before)
    tide = 'neap tide'
    await refreshed(app, id)
    expect(await chunkIds()).not.toEqual(before)
    expect(await passages(app, id, 'tide')).toEqual(['{"tide":"neap tide"}'])
  })

  it('is asked once more where a tag belongs to another address', async () => {
    let target = '/one'
    const site = await siteOf(({ path, headers }) => {
      if (path === '/') return { status: 302, headers: { location: target } }
      return headers['if-none-match'] === '"same"' ? { status: 304 } : json([path], { etag: '"same"' })
    })
    const { id } = await fetchedSource(app, api(site.url))
    target = '/two'
    expect(await refreshed(app, id)).toMatchObject({ status: 'ready' })
    expect(await passages(app, id, 'two')).toEqual(['["/two"]'])
  })
})

describe('what can go wrong', () => {
  it.each<[string, SiteAnswer, RegExp]>([
    ['404', { status: 404, body: 'no' }, /^The address answered with status 404: there is nothing there\./],
    ['401', { status: 401 }, /^The address answered with status 401: .* Check the headers/],
    ['400', { status: 400 }, /^The address answered with status 400\.$/],
    ['204', { status: 204 }, /^The address answered without any content\.$/],
    ['304', { status: 304 }, /without being asked/],
    ['an empty answer', { body: '' }, /without any content/],
    [
      'an image',
      { headers: { 'content-type': 'image/png' }, body: 'x' },
      /the type image\/png, which cannot be/,
    ],
    ['no type', { headers: { 'content-type': '' }, body: 'x' }, /does not tell the type of its content/],
    [
      'broken JSON',
      { headers: { 'content-type': 'application/json' }, body: '{"a"' },
      /cannot be used.*not valid JSON/,
    ],
    [
      'a broken PDF',
      { headers: { 'content-type': 'application/pdf' }, body: 'x' },
      /^What was fetched cannot be used\./,
    ],
    ['blanks', { headers: { 'content-type': 'text/plain' }, body: ' \n ' }, /holds no text/],
    ['a page without text', { body: '<html><body></body></html>' }, /holds no text/],
    [
      'too much',
      { headers: { 'content-type': 'text/plain' }, body: 'x '.repeat(200_001) },
      /larger than 400000 bytes/,
    ],
    [
      'what unfolds to too much',
      {
        headers: { 'content-type': 'text/plain', 'content-encoding': 'gzip' },
        body: gzipSync(' x'.repeat(20_000_000)),
      },
      /larger than 400000 bytes/,
    ],
    ['a circle', { status: 302, headers: { location: '/' } }, /more redirects than the limit/],
    [
      'a redirect to a private address',
      { status: 302, headers: { location: 'http://169.254.169.254/' } },
      /refused unless OUTBOUND_ALLOW/,
    ],
    [
      'a redirect to a file',
      { status: 302, headers: { location: 'file:///etc/passwd' } },
      /only http and https/,
    ],
  ])('%s ends in an error that says so', async (_title, answer, reason) => {
    const site = await siteOf(() => answer)
    const source = await fetchedSource(app, api(site.url))
    expect(source).toMatchObject({ status: 'error', error: expect.stringMatching(reason) })
    expect(source.chunks).toBeUndefined()
  })

  it('a failure of the server is borne for a while', async () => {
    const answers: SiteAnswer[] = [{ status: 503 }, { status: 500 }, json(['Zweidorf'])]
    const site = await siteOf(() => answers.shift())
    expect(await fetchedSource(app, api(site.url))).toMatchObject({ status: 'ready' })
    expect(site.requests).toHaveLength(3)
  })

  it('a server that is gone is told of, and its last good content stays', async () => {
    const site = await startSite(() => json(['Zweidorf']))
    const { id } = await fetchedSource(app, api(site.url))
    await site[Symbol.asyncDispose]()
    const failed = await refreshed(app, id)
    expect(failed).toMatchObject({
      status: 'error',
      chunks: 1,
      error: expect.stringContaining('refused the connection'),
    })
    expect(await passages(app, id, 'Zweidorf')).toEqual(['["Zweidorf"]'])
  })

  it('what can no longer be read does not displace what could', async () => {
    let answer = json(['Zweidorf'])
    const site = await siteOf(() => answer)
    const { id } = await fetchedSource(app, api(site.url))
    answer = { headers: { 'content-type': 'application/json' }, body: '["broken' }
    expect(await refreshed(app, id)).toMatchObject({ status: 'error', chunks: 1 })
    expect(await passages(app, id, 'Zweidorf')).toEqual(['["Zweidorf"]'])
    answer = json(['Zweidorf'])
    expect(await refreshed(app, id)).toMatchObject({ status: 'ready', chunks: 1 })
  })

  it('an address that may no longer be reached is refused when it is fetched', async () => {
    const site = await siteOf(() => json(['Zweidorf']))
    const dataDirectory = temporaryDirectory()
    const open = await buildApp({ dataDirectory, environment: reachable })
    const { id } = await fetchedSource(open, api(site.url, { 'X-Key': secret }))
    await open.close()
    const shut = await testApp({ dataDirectory })
    const refused = await refreshed(shut, id)
    expect(refused).toMatchObject({ status: 'error', error: expect.stringContaining('OUTBOUND_ALLOW') })
    expect(await passages(shut, id, 'Zweidorf')).toHaveLength(1)
    expect(site.requests).toHaveLength(1)
  })
})

describe('what is refused at once', () => {
  let guarded: TestApp

  beforeAll(async () => {
    guarded = await buildApp()
  })

  afterAll(() => guarded.close())

  it.each([
    'http://127.0.0.1/',
    'http://localhost/',
    'http://[::1]/',
    'http://[::ffff:10.0.0.1]/',
    'http://2130706434/',
    'http://0x7f.0.0.2/',
    'http://0177.0.0.2/',
    'http://10.0.0.1/',
    'http://192.168.0.1:8080/api',
    'http://169.254.169.254/latest/meta-data/',
    'http://0.0.0.0/',
  ])(`the private address %s ${errorRow('sources', 400)}`, async url => {
    const { status, body } = await createSource(guarded, api(url))
    expect([status, body.error.code]).toEqual([400, 'OUTBOUND_REFUSED'])
  })

  it.each([
    [{ url: undefined }, 'url'],
    [{ url: '' }, 'url'],
    [{ url: 'example.com' }, 'url'],
    [{ url: 'ftp://example.com/' }, 'url'],
    [{ url: 'file:///etc/passwd' }, 'url'],
    [{ url: 'http://user:hunter22@127.0.0.1/' }, 'url'],
    [{ url: 'http://127.0.0.1\\@example.com/' }, 'url'],
    [{ url: 'http://127.0.0.1/ a' }, 'url'],
    [{ url: `http://127.0.0.1/${'x'.repeat(2000)}` }, 'url'],
    [{ name: undefined }, 'name'],
    [{ name: '' }, 'name'],
    [{ name: '\u0007' }, 'name'],
    [{ headers: 'X-Key: 1' }, 'headers'],
    [{ headers: { 'X-Key': 1 } }, 'headers.X-Key'],
    [{ headers: { 'X Key': '1' } }, 'headers'],
    [{ headers: { Host: 'example.com' } }, 'headers'],
    [{ headers: { 'content-length': '7' } }, 'headers'],
    [{ headers: { 'X-Key': `a\r\nX-Other: ${secret}` } }, 'headers.X-Key'],
    [{ headers: { 'X-Key': '日本' } }, 'headers.X-Key'],
    [{ headers: { 'X-Key': mask } }, 'headers.X-Key'],
    [{ headers: { 'X-Key': '1', 'x-key': '2' } }, 'headers'],
    [{ headers: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`X-${n}`, '1'])) }, 'headers'],
    [{ query: 'SELECT 1' }, 'query'],
    [{ method: 'POST' }, 'method'],
    [{ overlap: 900 }, 'overlap'],
    [{ file: 'a.txt' }, 'file'],
  ])('%.90j', async (changes, field) => {
    const { status, body } = await createSource(app, { ...api('http://127.0.0.1/'), ...changes })
    expect([status, body.error?.code, body.error?.details.field]).toEqual([400, 'VALIDATION_ERROR', field])
    expect(JSON.stringify(body)).not.toMatch(/hunter22|sk-tides/)
  })
})

describe('the secrets of an address', () => {
  const secretRows = () =>
    app.service.infrastructure.platform
      .selectFrom('agent_secrets')
      .selectAll()
      .where('agent_id', '=', 'default')
      .execute()

  it('are nowhere in clear text, and go with the source', async () => {
    const site = await siteOf(({ headers }) => json({ told: headers.authorization, day: 'Sunday' }))
    const before = await secretRows()
    const { id } = await fetchedSource(app, api(site.url, { Authorization: secret }))
    expect(await refreshed(app, id)).toMatchObject({ config: { headers: { Authorization: mask } } })
    expect(await secretRows()).toHaveLength(before.length + 1)
    expect(JSON.stringify(await secretRows())).not.toContain('sk-tides')
    expect(await passages(app, id, 'Sunday')).toEqual([`{"told":"${mask}","day":"Sunday"}`])
    const told = [
      await app.call('GET', sources),
      await app.call('GET', `${sources}/${id}`),
      await app.call('POST', '/api/agents/default/sql/execute', { body: { query: 'SELECT * FROM sources' } }),
      app.logged,
    ]
    expect(JSON.stringify(told)).not.toContain('sk-tides')
    expect((await app.call('DELETE', `${sources}/${id}`)).status).toBe(200)
    await app.service.infrastructure.runner.idle()
    expect(await secretRows()).toEqual(before)
  })

  it('stay within their origin when it redirects', async () => {
    const other = await siteOf(() => json(['Zweidorf']))
    const site = await siteOf(({ path }) => {
      if (path === '/near') return json(['Zweidorf'])
      return { status: 307, headers: { location: path === '/' ? '/near' : other.url } }
    })
    const headers = { Authorization: secret, 'X-Own-Key': secret, 'X-Other': 'plain' }
    expect(await fetchedSource(app, api(`${site.url}/`, headers))).toMatchObject({ status: 'ready' })
    expect(site.requests.map(one => one.headers['x-own-key'])).toEqual([secret, secret])
    expect(await fetchedSource(app, api(`${site.url}/far`, headers))).toMatchObject({ status: 'ready' })
    expect(site.requests.at(-1)?.headers['x-own-key']).toBe(secret)
    expect(JSON.stringify(other.requests)).not.toContain('sk-tides')
  })

  it('are not sent to an address that has taken the place of theirs', async () => {
    const thief = await siteOf(() => json(['Zweidorf']))
    const site = await siteOf(() => json(['Zweidorf']))
    const { id, config } = await fetchedSource(app, api(site.url, { 'X-Key': secret }))
    await app.service.infrastructure.agentDatabases.use('default', ({ db }) =>
      db
        .updateTable('sources')
        .set({ config: JSON.stringify({ ...config, url: thief.url }) })
        .where('id', '=', id)
        .execute(),
    )
    expect(await refreshed(app, id)).toMatchObject({
      status: 'error',
      error: expect.stringContaining('given for another server'),
    })
    expect(thief.requests).toEqual([])
  })

  it('go with the agent', async () => {
    const owned = await testApp({ environment: { ...reachable, DEV_USER: 'owner@example.com' } })
    const site = await siteOf(() => json(['Zweidorf']))
    const id = await makeAgent(owned)
    const body = api(site.url, { 'X-Key': secret })
    expect((await owned.call('POST', `/api/agents/${id}/sources`, { body })).status).toBe(201)
    await owned.service.infrastructure.runner.idle()
    expect((await owned.call('DELETE', `/api/agents/${id}`)).status).toBe(200)
    const rows = await owned.service.infrastructure.platform.selectFrom('agent_secrets').selectAll().execute()
    expect(rows).toEqual([])
  })
})

it('OpenAPI tells of both bodies, and how their passages may be cut', async () => {
  interface Document {
    paths: Record<string, { post: { requestBody: { content: Record<string, unknown> } } }>
  }
  const { body } = await app.call<Document>('GET', '/openapi.json')
  const { content } = body.paths['/api/agents/{id}/sources']?.post.requestBody ?? { content: {} }
  expect(Object.keys(content)).toEqual(['multipart/form-data', 'application/json'])
  expect(JSON.stringify(content['application/json'])).toMatch(/"database".*"query".*"api".*"headers"/)
  const sizes =
    /"chunk_size":{"type":"integer","minimum":100,"maximum":8000,.*"overlap":{"type":"integer","minimum":0,/
  for (const described of Object.values(content)) expect(JSON.stringify(described)).toMatch(sizes)
})
