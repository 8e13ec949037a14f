import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { createOutbound } from '#platform/outbound/outbound.ts'
import { type AnswerSite, answerWithoutEnd, startSite } from '#test/support/site-server.ts'
import { type Fetched, fetchPage } from './fetch-page.ts'
import { createHostGates } from './site/host-gates.ts'

async function fetchFrom(
  answer: AnswerSite,
  path: string,
  requestMs = 5_000,
  onAsk = () => {},
): Promise<Fetched> {
  const site = await startSite(answer)
  const outbound = createOutbound({ allow: ['127.0.0.1'], userAgent: 'test' })
  const fetch = outbound.fetchFunction()
  onTestFinished(async () => {
    await outbound.close()
    await site[Symbol.asyncDispose]()
  })
  return await fetchPage(`${site.url}${path}`, {
    fetch: (...request) => {
      onAsk()
      return fetch(...request)
    },
    gates: createHostGates(),
    pauseMs: 0,
    requestMs,
    validatorsOf: async () => undefined,
    objectionTo: async url => (url.startsWith(site.url) ? undefined : 'It leads elsewhere.'),
    signal: new AbortController().signal,
  })
}

const html = { 'content-type': 'text/html' }

test.each<[string, AnswerSite]>([
  [
    'sends a byte now and then',
    (_, response) => {
      response.writeHead(200, html)
      response.write('<')
      return null
    },
  ],
  ['never begins', () => null],
])('a page that %s is given up, and not asked for again', async (_, answer) => {
  let asked = 0
  const counted: AnswerSite = (request, response) => {
    asked += 1
    return answer(request, response)
  }
  expect(await fetchFrom(counted, '/slow', 3000)).toMatchObject({
    kind: 'failed',
    reason: 'It did not arrive within 3 s.',
  })
  expect(asked).toBe(1)
})

test.each<[string, AnswerSite]>([
  ['tells a size without end', () => ({ headers: { ...html, 'content-length': '10000000000' } })],
  ['is without end', (_, response) => answerWithoutEnd(response)],
  [
    'unfolds to far more than it seems',
    () => ({
      headers: { ...html, 'content-encoding': 'gzip' },
      body: gzipSync(Buffer.alloc(50_000_000, ' ')),
    }),
  ],
])('a page that %s is skipped', async (_, answer) => {
  expect(await fetchFrom(answer, '/huge')).toMatchObject({
    kind: 'skipped',
    reason: 'It is larger than 5 MiB.',
  })
})

test.each([
  ['application/pdf', {}, 'It is no web page: its type is application/pdf.'],
  ['text/plain', {}, 'It is no web page: its type is text/plain.'],
  ['application/octet-stream', {}, 'It is no web page: its type is application/octet-stream.'],
  [
    'text/html',
    { 'content-disposition': 'attachment; filename="x.html"' },
    'It is a download, not a web page.',
  ],
])('what is no page is skipped without being read: %s %j', async (type, headers, reason) => {
  const answer: AnswerSite = (_, response) => {
    response.writeHead(200, { 'content-type': type, ...headers })
    response.write('%PDF')
    return null
  }
  expect(await fetchFrom(answer, '/file')).toMatchObject({ kind: 'skipped', reason })
})

test.each([
  ['/loop-a', 'failed', 'It redirects in a circle.'],
  ['/self', 'failed', 'It redirects in a circle.'],
  ['/long-0', 'failed', 'It redirects more than 5 times.'],
  ['/to-file', 'skipped', 'It redirects to an address that is no page.'],
  ['/to-metadata', 'skipped', 'It leads elsewhere.'],
  ['/userinfo', 'skipped', 'It redirects to an address that is no page.'],
])('the redirects of %s end', async (path, kind, reason) => {
  const locations: Record<string, string> = {
    '/loop-a': '/loop-b',
    '/loop-b': '/loop-a',
    '/self': '/self',
    '/to-file': 'file:///etc/passwd',
    '/to-metadata': 'http://169.254.169.254/latest/meta-data/',
    '/userinfo': 'http://user:secret@127.0.0.1/',
  }
  const answer: AnswerSite = request => {
    const step = /^\/long-(\d+)$/.exec(request.path)?.[1]
    const location = step === undefined ? locations[request.path] : `/long-${Number(step) + 1}`
    return { status: 302, headers: { location: location ?? '' } }
  }
  expect(await fetchFrom(answer, path)).toMatchObject({ kind, reason })
})

test('a redirect without an address is an answer like any other', async () => {
  expect(await fetchFrom(() => ({ status: 302 }), '/')).toMatchObject({
    kind: 'failed',
    reason: 'It answered with status 302.',
  })
})

test('a page is asked for again when its server has trouble, as often as is decent', async () => {
  let asked = 0
  const recovering: AnswerSite = () => ({ status: asked++ === 0 ? 500 : 200, body: 'late' })
  expect(await fetchFrom(recovering, '/')).toMatchObject({ kind: 'page' })
  asked = 0
  const dropping: AnswerSite = (_, response) => {
    asked += 1
    response.destroy()
    return null
  }
  expect(await fetchFrom(dropping, '/drop')).toMatchObject({
    kind: 'failed',
    reason: expect.stringContaining('it closed the connection early'),
  })
  expect(asked).toBe(3)
})

test('waits as long as a server asks for, if that is not too long', async () => {
  // When it is asked is known before a request begins its way, which takes its time.
  const times: number[] = []
  const answer: AnswerSite = () =>
    times.length === 1 ? { status: 429, headers: { 'retry-after': '1' } } : 'fine'
  const asking = fetchFrom(answer, '/', undefined, () => times.push(performance.now()))
  expect(await asking).toMatchObject({ kind: 'page' })
  expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(990)
  const hour: AnswerSite = () => ({ status: 429, headers: { 'retry-after': '3600' } })
  expect(await fetchFrom(hour, '/retry')).toMatchObject({
    kind: 'failed',
    reason: 'It answered with status 429.',
  })
})

test.each([
  ['<html>x</html>', 'page'],
  ['  <a href="/">x</a>', 'page'],
  ['%PDF-1.4', 'skipped'],
])('without a type, what begins like HTML is a page: %j', async (body, kind) => {
  const answer: AnswerSite = (_, response) => {
    response.writeHead(200)
    response.end(body)
    return null
  }
  expect(await fetchFrom(answer, '/')).toMatchObject({ kind })
})
