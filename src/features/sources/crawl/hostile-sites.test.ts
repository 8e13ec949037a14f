/** What a site can do to a crawler, played from real fixtures by a server on this machine. */
import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createOutbound } from '#platform/outbound/outbound.ts'
import { testApp } from '#test/support/build-app.ts'
import { crawl, forCrawls, pathsOf, startCrawl } from '#test/support/crawl.ts'
import { search } from '#test/support/crawl-stage.ts'
import {
  type AnswerSite,
  answerWithoutEnd,
  page,
  type SiteAnswer,
  startSite,
} from '#test/support/site-server.ts'

const fixtures = process.env.REAL_FIXTURES ?? ''

/** A file of the fixtures for security; what it holds when there are none does not matter. */
function fixture<Content>(name: string, none: Content): Content {
  if (fixtures === '') return none
  return JSON.parse(readFileSync(join(fixtures, 'security', name), 'utf8')) as Content
}

interface Route {
  path: string
  status?: number
  location?: string
  type?: string
  body?: string
}

const { routes } = fixture<{ routes: Route[] }>('crawl-behaviours.json', { routes: [] })
const { patterns } = fixture<{ patterns: string[] }>('globs.json', { patterns: [] })
const urls = fixture<{ url: string; expect: string }[]>('ssrf-urls.json', [])

const html = { 'content-type': 'text/html' }
const tooLarge = 'It is larger than 5 MiB.'
const elsewhere = expect.stringContaining('It redirects to another site')

/** Why each address is no page; undefined for those that are, or that lead to one which is known. */
const expected: Record<string, unknown> = {
  '/r/loop-a': 'It redirects in a circle.',
  '/r/loop-b': 'It redirects in a circle.',
  '/r/self': 'It redirects in a circle.',
  '/r/to-private': elsewhere,
  '/r/to-metadata': elsewhere,
  '/r/chain-1': undefined,
  '/r/chain-2': undefined,
  '/r/chain-3': undefined,
  '/r/to-file': 'It redirects to an address that is no page.',
  '/r/no-location': 'It answered with status 302.',
  '/r/meta-refresh': undefined,
  '/r/cross-origin': elsewhere,
  '/r/long-chain-0': 'It redirects more than 5 times.',
  '/r/infinite?page=1': undefined,
  '/r/slow': 'It did not arrive within 20 s.',
  '/r/huge': tooLarge,
  '/r/gzip-bomb': tooLarge,
  '/r/wrong-type': 'It is no web page: its type is application/octet-stream.',
  '/r/no-type': undefined,
  '/r/charset': undefined,
  '/r/404-html': 'It answered with status 404.',
  '/r/500': 'It answered with status 500.',
  '/r/retry': 'It answered with status 429.',
  '/r/attachment': 'It is a download, not a web page.',
  '/r/drop': expect.stringContaining('it closed the connection early'),
}

/** 1 GB of spaces, in twenty parts that a reader of gzip takes for one. */
const bomb = () => Buffer.concat(Array(20).fill(gzipSync(Buffer.alloc(50 * 1024 * 1024, ' '))))

/** What the fixture tells in words. */
const played: Record<string, (response: ServerResponse) => SiteAnswer | string | null> = {
  '/r/slow'(response) {
    response.writeHead(200, html)
    const timer = setInterval(() => response.write('<'), 1_000)
    response.on('close', () => clearInterval(timer))
    return null
  },
  '/r/huge': answerWithoutEnd,
  '/r/gzip-bomb': () => ({ headers: { ...html, 'content-encoding': 'gzip' }, body: bomb() }),
  '/r/charset': () => ({
    headers: { 'content-type': 'text/html; charset=gb18030' },
    body: Buffer.concat([Buffer.from('<p>'), Buffer.from('b8dbbfdab5c4b5c6cbfe', 'hex')]),
  }),
  '/r/retry': () => ({ status: 429, headers: { 'retry-after': '3600' } }),
  '/r/attachment': () => ({ headers: { ...html, 'content-disposition': 'attachment' }, body: page('File') }),
  '/r/drop'(response) {
    response.writeHead(200, { ...html, 'content-length': '1000' })
    response.write('<p>half', () => response.destroy())
    return null
  },
}

const plays: AnswerSite = ({ path }, response) => {
  if (path === '/index.html') return page('Start', routes.map(route => route.path).filter(isPage))
  const number = Number(/\d+$/.exec(path)?.[0])
  if (path.startsWith('/r/infinite')) return page(`Page ${number}`, [`?page=${number + 1}`])
  if (/^\/r\/long-chain-\d+$/.test(path))
    return { status: 302, headers: { location: `/r/long-chain-${number + 1}` } }
  const play = played[path]
  if (play !== undefined) return play(response)
  const route = routes.find(one => one.path === path)
  if (route === undefined) return undefined
  response.writeHead(route.status ?? 200, {
    ...(route.type !== undefined && { 'content-type': route.type }),
    ...(route.location !== undefined && { location: route.location }),
  })
  response.end(route.body)
  return null
}

const isPage = (path: string) => path !== '/robots.txt'

async function siteOf(answer: AnswerSite) {
  const site = await startSite(answer)
  onTestFinished(() => site[Symbol.asyncDispose]())
  return site
}

// Needs REAL_FIXTURES, the folder of real documents and sites; skipped without it.
describe.skipIf(fixtures === '')('hostile sites', () => {
  test('all that the fixture tells of is expected', () => {
    expect(
      routes
        .map(({ path }) => path)
        .filter(isPage)
        .toSorted(),
    ).toEqual(Object.keys(expected).toSorted())
  })

  test('robots.txt keeps us away from all of it', async () => {
    const app = await testApp({ environment: forCrawls })
    const site = await siteOf(plays)
    const source = await crawl(app, { url: `${site.url}/index.html` })
    expect(pathsOf(source)).toEqual(['/index.html'])
    expect(site.requests.map(({ path }) => path)).toEqual(['/robots.txt', '/index.html'])
  })

  test('each trick costs its own address, and no other', async () => {
    const app = await testApp({ environment: forCrawls })
    const site = await siteOf((request, response) =>
      request.path === '/robots.txt' ? undefined : plays(request, response),
    )
    const source = await crawl(app, { url: `${site.url}/index.html` })
    expect(source.status).toBe('ready')
    const failures = source.config.failedPages ?? []
    const told = Object.fromEntries(failures.map(({ url, reason }) => [url.slice(site.url.length), reason]))
    expect(told).toEqual(Object.fromEntries(Object.entries(expected).filter(([, reason]) => reason)))
    expect(pathsOf(source)).toEqual([
      '/index.html',
      '/r/charset',
      '/r/infinite?page=1',
      '/r/infinite?page=2',
      '/r/infinite?page=3',
      '/r/meta-refresh',
      '/r/no-type',
    ])
    expect((await search(app, '港口的灯塔'))[0]).toContain('港口的灯塔')
  })
})

describe.skipIf(fixtures === '')('patterns', () => {
  const paths = ['/', '/docs', '/docs/x.html', '/docs/a/1.html', '/docs/c/1.html', '/blog/x', '/x.html']
  const below = paths.filter(path => path.startsWith('/docs'))
  /** What each lets through besides the start page; undefined for those that are refused. */
  const included: Record<string, string[] | undefined> = {
    '**': paths,
    '*': [],
    '/docs/**': below,
    '**/*.html': paths.filter(path => path.endsWith('.html')),
    'http://*/docs/*': ['/docs/x.html'],
    '[': [],
    '{a,b': [],
    '!(x)': undefined,
    '/docs/{a,b}/*.html': ['/docs/a/1.html'],
  }

  test.each(patterns)('%s', async pattern => {
    const app = await testApp({ environment: forCrawls })
    const site = await siteOf(({ path }) => (paths.includes(path) ? page(path, paths) : undefined))
    expect(Object.keys(included)).toContain(pattern)
    const matching = included[pattern]
    if (matching === undefined) {
      for (const field of ['includePatterns', 'excludePatterns'])
        expect(await startCrawl(app, { url: site.url, [field]: [pattern] })).toMatchObject({
          status: 400,
          body: { error: { message: expect.stringContaining('is not understood') } },
        })
      return
    }
    const including = await crawl(app, { url: site.url, includePatterns: [pattern] })
    expect(pathsOf(including)).toEqual([...new Set(['/', ...matching])].toSorted())
    const excluding = await crawl(app, { url: site.url, excludePatterns: [pattern] })
    expect(pathsOf(excluding)).toEqual(
      paths.filter(path => path === '/' || !matching.includes(path)).toSorted(),
    )
  })
})

describe.skipIf(fixtures === '')('addresses that lead inside', () => {
  const isSpaced = (url: string) => /\s/.test(url.trim())
  const byName = urls.filter(row => row.expect === 'block after name resolution')
  const allowed = urls.filter(row => row.expect.startsWith('allow') && !isSpaced(row.url))
  const refused = urls.filter(row => !byName.includes(row) && !allowed.includes(row))

  test('are no start page', async () => {
    const app = await testApp()
    // Nothing is to be asked for outside of this machine.
    await app.service.infrastructure.runner.stop(10_000)
    expect(refused.length).toBeGreaterThan(30)
    for (const { url } of refused)
      expect(await startCrawl(app, { url }), url).toMatchObject({
        status: 400,
        body: { error: { code: expect.stringMatching(/^(?:VALIDATION_ERROR|OUTBOUND_REFUSED)$/) } },
      })
    for (const { url } of allowed) expect((await startCrawl(app, { url })).status, url).toBe(201)
  })

  test('are known by what their names resolve to', async () => {
    const resolve = async () => [{ address: '127.0.0.1', family: 4 }]
    const outbound = createOutbound({ allow: [], userAgent: 'test', resolve })
    expect(byName).not.toEqual([])
    for (const { url } of byName)
      await expect(outbound.requirePermitted(url, 'url'), url).rejects.toThrow('OUTBOUND_ALLOW')
  })

  test('are followed neither from a link nor from a redirect', async () => {
    const app = await testApp({ environment: forCrawls })
    const other = await siteOf(() => page('Inside'))
    const { port } = new URL(other.url)
    const spelled = ['127.1', '0x7f.1', '2130706433', 'localhost', '[::ffff:127.0.0.1]', '127.0.0.1.']
    const all = [...urls.map(({ url }) => url), ...spelled.map(host => `http://${host}:${port}/`)]
    // What no header can hold.
    const located = all.filter(url => !/[\r\n]/.test(url))
    const site = await siteOf(({ path }) => {
      const target = located[Number(/^\/to\/(\d+)$/.exec(path)?.[1] ?? Number.NaN)]
      if (target !== undefined)
        return { status: 302, headers: { location: Buffer.from(target).toString('latin1') } }
      if (path !== '/') return undefined
      const attribute = (url: string) => url.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
      return page('Start', [...all.map(attribute), ...located.map((_, at) => `/to/${at}`)])
    })
    const source = await crawl(app, { url: site.url })
    expect(pathsOf(source)).toEqual(['/'])
    const failures = source.config.failedPages ?? []
    expect(failures.map(({ url }) => url.slice(site.url.length))).toEqual(
      expect.arrayContaining(located.map((_, at) => `/to/${at}`)),
    )
    for (const { reason } of failures)
      expect(reason).toMatch(
        /^It (redirects to (another site|an address that is no page)|answered with status 404)/,
      )
    expect(other.requests).toEqual([])
  })
})
