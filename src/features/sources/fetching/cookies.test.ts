/** Sites that send a reader to and fro until it brings back the cookies that they have set. */
import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { buildApp, type TestApp } from '#test/support/build-app.ts'
import { crawl, forCrawls, pathsOf } from '#test/support/crawl.ts'
import { fetchedSource, passages } from '#test/support/fetched-source.ts'
import {
  type AnswerSite,
  page,
  type SiteAnswer,
  type SiteRequest,
  startSite,
} from '#test/support/site-server.ts'

let app: TestApp

beforeAll(async () => {
  app = await buildApp({ environment: forCrawls })
})

afterAll(() => app.close())

async function siteOf(answer: AnswerSite) {
  const site = await startSite(answer)
  onTestFinished(() => site[Symbol.asyncDispose]())
  return site
}

function sendOn(response: ServerResponse, location: string, cookies: string[]): null {
  response.writeHead(302, { location, 'set-cookie': cookies })
  response.end()
  return null
}

/** All is behind them, robots.txt as well: one is set, then taken back for another. */
function behindCookies(answer: (request: SiteRequest) => SiteAnswer | string): AnswerSite {
  return (request, response) => {
    const { path, headers } = request
    if (headers.cookie === 'agreed=yes; lang=de') return answer(request)
    if (headers.cookie !== 'seen=1') return sendOn(response, path, ['seen=1; Path=/; HttpOnly'])
    return sendOn(response, path, ['agreed=yes; Secure', 'seen=; Max-Age=0', 'lang=de'])
  }
}

test('pages of such a site are crawled', async () => {
  const robots = { headers: { 'content-type': 'text/plain' }, body: 'User-agent: *\nDisallow: /private' }
  const site = await siteOf(
    behindCookies(({ path }) => (path === '/robots.txt' ? robots : page(path, ['/a', '/private']))),
  )
  const source = await crawl(app, { url: site.url })
  expect([source.status, pathsOf(source)]).toEqual(['ready', ['/', '/a']])
})

test('an address of such a site is fetched, and a page read', async () => {
  const site = await siteOf(behindCookies(() => page('Harbour', [], 'Zweidorf.')))
  const { id, status } = await fetchedSource(app, { type: 'api', name: 'Harbour', url: site.url })
  expect(status).toBe('ready')
  expect(await passages(app, id, 'Zweidorf')).toEqual([expect.stringContaining('Zweidorf')])
  const content = `What does ${site.url}/tides say of the harbour?`
  expect(
    await app.call('POST', '/api/agents/default/chat', { body: { content, autoRag: false } }),
  ).toMatchObject({ body: { assistantMessage: { toolResults: [{ result: { title: 'Harbour' } }] } } })
})

test('cookies go to no other site, and none that stands in the headers of a source is replaced', async () => {
  const other = await siteOf(() => ({ headers: { 'content-type': 'text/plain' }, body: 'Other' }))
  const site = await siteOf((request, response) =>
    sendOn(response, request.path === '/' ? '/next' : other.url, ['seen=1']),
  )
  for (const headers of [{}, { Cookie: 'own=1' }])
    await fetchedSource(app, { type: 'api', name: 'Away', url: site.url, headers })
  expect(site.requests.map(({ headers }) => headers.cookie)).toEqual([undefined, 'seen=1', 'own=1', 'own=1'])
  expect(other.requests.map(({ headers }) => headers.cookie)).toEqual([undefined, undefined])
})

test('a site that sets another cookie each time is given up', async () => {
  let cookies = 0
  const site = await siteOf(({ path }, response) =>
    path === '/robots.txt' ? undefined : sendOn(response, '/', [`seen=${cookies++}`]),
  )
  const { status, error } = await crawl(app, { url: site.url })
  expect([status, error]).toEqual(['error', expect.stringContaining('redirects more than 5 times')])
})

test('a site that sets cookies without end gets some of them back', async () => {
  const many = Array.from({ length: 100 }, (_, at) => `c${at}=${'x'.repeat(100)}`)
  const site = await siteOf(({ path, headers }, response) => {
    if (path === '/robots.txt') return undefined
    return headers.cookie === undefined ? sendOn(response, '/', many) : page('Harbour')
  })
  expect(await crawl(app, { url: site.url })).toMatchObject({ status: 'ready' })
  expect(site.requests.at(-1)?.headers.cookie?.split('; ')).toEqual(many.slice(0, 50))
})
