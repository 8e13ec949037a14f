import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { SearchResult } from '#features/knowledge/knowledge.schema.ts'
import { errorRow, limitRow, row } from '#test/spec/row.ts'
import { buildApp, type TestApp, testApp } from '#test/support/build-app.ts'
import { crawl, crawlAgain, crawled, forCrawls, pathsOf, startCrawl } from '#test/support/crawl.ts'
import { changeCrawls } from '#test/support/crawl-job.ts'
import { type AnswerSite, page, type Site, sitePages, startSite } from '#test/support/site-server.ts'

const sources = '/api/agents/default/sources'

let app: TestApp

beforeAll(async () => {
  app = await buildApp({ environment: forCrawls })
})

afterAll(() => app.close())

async function siteOf(answer: AnswerSite): Promise<Site> {
  const site = await startSite(answer)
  onTestFinished(() => site[Symbol.asyncDispose]())
  return site
}

const search = async (query: string) =>
  (await app.call<{ results: SearchResult[] }>('GET', `${sources}/search?${query}`)).body.results

describe(`crawling a website ${row('POST /api/agents/{id}/sources/crawl')}`, () => {
  it('answers at once, and the pages are searchable when it has ended', async () => {
    const site = await siteOf(
      sitePages({ '/': page('Harbour', ['/tides#today']), '/tides': page('Tides', ['/'], 'Zweidorf.') }),
    )
    const answer = await startCrawl(app, { url: site.url, name: 'Harbour' })
    expect(answer.status).toBe(201)
    expect(answer.body).toEqual({
      id: expect.any(String),
      type: 'crawl',
      name: 'Harbour',
      status: 'crawling',
      config: {
        url: `${site.url}/`,
        maxPages: 50,
        maxDepth: 3,
        includePatterns: [],
        excludePatterns: [],
        useSitemap: false,
        render: 'auto',
        startedAt: expect.any(String),
        chunk_size: 1000,
        overlap: 150,
        method: 'semantic',
      },
      created_at: expect.any(String),
    })
    const source = await crawled(app, answer.body.id)
    expect(source).toMatchObject({
      status: 'ready',
      progress: 1,
      chunks: 2,
      config: {
        pageCount: 2,
        lastCrawledAt: expect.any(String),
        pageHashes: {
          [`${site.url}/`]: expect.stringMatching(/^[0-9a-f]{64}$/),
          [`${site.url}/tides`]: expect.stringMatching(/^[0-9a-f]{64}$/),
        },
        failedPages: [],
      },
    })
    const [best] = await search(`query=Zweidorf&source_id=${source.id}`)
    expect(best).toMatchObject({
      source_id: source.id,
      metadata: { source_name: 'Harbour', page: null, section: 'Tides', url: `${site.url}/tides` },
    })
    expect(site.requests[0]?.headers['user-agent']).toMatch(/^agentstead /)
  })

  it('cuts pages as it was asked to, when they are new and when they have changed', async () => {
    let text = 'Ebb and flow. '.repeat(100)
    const site = await siteOf(() => page('Tides', [], text))
    const wishes = { chunk_size: 200, overlap: 0, method: 'fixed' }
    const source = await crawl(app, { url: site.url, ...wishes })
    expect(source.config).toMatchObject(wishes)
    const lengths = async () =>
      (await search(`query=ebb+and+flow&limit=100&source_id=${source.id}`)).map(
        ({ metadata: { start, end } }) => end - start,
      )
    expect(source.chunks).toBeGreaterThan(6)
    expect(Math.max(...(await lengths()))).toBe(200)
    text += text
    expect((await crawlAgain(app, source.id)).chunks).toBeGreaterThan(13)
    expect(Math.max(...(await lengths()))).toBe(200)
  })

  it.each([
    [{ url: undefined }, 'url'],
    [{ url: '' }, 'url'],
    [{ url: 'example.com' }, 'url'],
    [{ url: 'ftp://example.com/' }, 'url'],
    [{ url: 'http://user:secret@example.com/' }, 'url'],
    [{ url: String.raw`http://127.0.0.1:6666\@example.com/` }, 'url'],
    [{ name: '  ' }, 'name'],
    [{ name: 'x'.repeat(301) }, 'name'],
    [{ maxPages: 0 }, 'maxPages'],
    [{ maxPages: 51 }, 'maxPages'],
    [{ maxPages: 1.5 }, 'maxPages'],
    [{ maxDepth: -1 }, 'maxDepth'],
    [{ maxDepth: 6 }, 'maxDepth'],
    [{ includePatterns: ['/a', '!(x)'] }, 'includePatterns'],
    [{ excludePatterns: ['{a,b}'.repeat(20)] }, 'excludePatterns'],
    [{ includePatterns: ['x'.repeat(201)] }, 'includePatterns.0'],
    [{ excludePatterns: Array.from({ length: 51 }, () => '/a') }, 'excludePatterns'],
    [{ render: 'sometimes' }, 'render'],
    [{ chunk_size: 99 }, 'chunk_size'],
    [{ chunk_size: 200, overlap: 100 }, 'overlap'],
    [{ method: 'random' }, 'method'],
  ])(`refuses %j ${errorRow('sources', 400)}`, async (fields, field) => {
    const { status, body } = await startCrawl(app, { url: 'http://127.0.0.1:9/', ...fields })
    expect(status).toBe(400)
    expect(body).toMatchObject({ error: { code: 'VALIDATION_ERROR', details: { field } } })
  })

  it(`takes as many pages and as deep ones as the operator allows ${limitRow('crawl-pages')} ${limitRow('crawl-depth')}`, async () => {
    const site = await siteOf(({ path }) => (path === '/robots.txt' ? undefined : page(path, [`${path}x`])))
    const usual = await startCrawl(app, { url: site.url })
    expect(usual.body.config).toMatchObject({ maxPages: 50, maxDepth: 3 })
    expect((await startCrawl(app, { url: site.url, maxPages: 50, maxDepth: 5 })).status).toBe(201)
    await app.service.infrastructure.runner.idle()
    const small = await testApp({
      environment: { ...forCrawls, CRAWL_MAX_PAGES: '10', CRAWL_MAX_DEPTH: '2' },
    })
    expect((await startCrawl(small, { url: site.url })).body.config).toMatchObject({
      maxPages: 10,
      maxDepth: 2,
    })
    expect((await startCrawl(small, { url: site.url, maxPages: 11 })).status).toBe(400)
    await small.service.infrastructure.runner.idle()
  })

  it('counts as a bulk operation', async () => {
    const limited = await testApp({ environment: { ...forCrawls, RATE_LIMIT_BULK: '1' } })
    expect((await startCrawl(limited, { url: 'nothing' })).status).toBe(400)
    expect((await startCrawl(limited, { url: 'nothing' })).status).toBe(429)
  })

  it('waits for a model that can embed', async () => {
    const lacking = await testApp({ environment: { ...forCrawls, EMBEDDING_PROVIDER: 'openai' } })
    const { status, body } = await startCrawl(lacking, { url: 'http://127.0.0.1:9/' })
    expect(status).toBe(400)
    expect(body).toMatchObject({ error: { code: 'MODEL_NOT_CONFIGURED' } })
  })
})

describe('the bounds of a crawl', () => {
  const chain: AnswerSite = ({ path }) => {
    const at = Number(/^\/(\d+)$/.exec(path)?.[1] ?? Number.NaN)
    return Number.isNaN(at) ? undefined : page(`Page ${at}`, [`/${at + 1}`])
  }

  it.each([0, 1, 3])('the start page is depth 0: to depth %i', async maxDepth => {
    const site = await siteOf(chain)
    const source = await crawl(app, { url: `${site.url}/0`, maxDepth })
    expect(pathsOf(source)).toEqual(Array.from({ length: maxDepth + 1 }, (_, at) => `/${at}`))
    expect(site.asked()).toEqual(pathsOf(source))
  })

  it('asks for no more pages than it may keep, breadth first', async () => {
    const site = await siteOf(({ path }) =>
      path === '/'
        ? page('Start', ['/a', '/b', '/gone', '/c'])
        : /^\/\w$/.test(path)
          ? page(path, [`${path}/x`])
          : undefined,
    )
    const source = await crawl(app, { url: site.url, maxPages: 4 })
    expect(pathsOf(source)).toEqual(['/', '/a', '/b', '/c'])
    expect(site.asked().toSorted()).toEqual(['/', '/a', '/b', '/c', '/gone'])
    expect(source.config.failedPages).toEqual([
      {
        url: `${site.url}/`,
        reason: '3 more addresses were not visited: this crawl keeps at most 4 pages (`maxPages`).',
      },
      { url: `${site.url}/gone`, reason: 'It answered with status 404.' },
    ])
  })

  it('bear a site that never ends, whether its links are dead or alive', async () => {
    const calendar = await siteOf(({ path }) => {
      if (path === '/robots.txt') return undefined
      const at = Number(new URL(path, 'http://x').searchParams.get('page') ?? 1)
      return page(`Month ${at}`, [`?page=${at + 1}`])
    })
    expect(
      (await crawl(app, { url: `${calendar.url}/r/infinite?page=1`, maxDepth: 5 })).config.pageCount,
    ).toBe(6)
    const dead = await siteOf(({ path }) => {
      const links = Array.from({ length: 2_000 }, (_, at) => `/dead/${at}`)
      return path === '/' ? page('Start', links) : undefined
    })
    const source = await crawl(app, { url: dead.url, maxPages: 2 })
    expect(source).toMatchObject({ status: 'ready', config: { pageCount: 1 } })
    expect(source.config.failedPages).toHaveLength(100)
    expect(dead.asked()).toHaveLength(120)
  })
})

describe('which pages belong to a site', () => {
  it('those of its origin, each once, whatever its links look like', async () => {
    const other = await siteOf(() => page('Another site'))
    const links = [
      '/a',
      '/a#x',
      './a',
      '/b/../a',
      '/%61',
      '',
      other.url,
      'mailto:x@example.com',
      'javascript:void(0)',
    ]
    const site = await siteOf(sitePages({ '/': page('Start', links), '/a': page('A') }))
    const source = await crawl(app, { url: `${site.url}/#top` })
    expect(pathsOf(source)).toEqual(['/', '/a'])
    expect(source.config.failedPages).toEqual([])
    expect(site.asked()).toEqual(['/', '/a'])
    expect(other.requests).toEqual([])
  })

  it('those that the patterns let through; the start page always, and exclusions win', async () => {
    const links = ['/docs', '/docs/', '/docs/a', '/docs/b', '/blog/a', '/docs/out']
    const site = await siteOf(({ path }) => (path === '/robots.txt' ? undefined : page(path, links)))
    const source = await crawl(app, {
      url: site.url,
      includePatterns: ['/docs/*', `${site.url}/none`],
      excludePatterns: ['**/b/'],
    })
    expect(pathsOf(source)).toEqual(['/', '/docs/a', '/docs/out'])
    expect(site.asked().toSorted()).toEqual(['/', '/docs/a', '/docs/out'])
  })

  it('counts a page once that redirects lead to, or that names another address as its own', async () => {
    const canonical = page('Same').replace('<title>', '<link rel="canonical" href="/same"><title>')
    const site = await siteOf(
      sitePages({
        '/': page('Start', ['/old', '/new', '/same?print=1', '/same', '/same?x=2', '/last']),
        '/last': page('Last'),
        '/old': { status: 301, headers: { location: 'new' } },
        '/new': page('New'),
        '/same?print=1': canonical,
        '/same?x=2': canonical,
        '/same': canonical,
      }),
    )
    const source = await crawl(app, { url: site.url, maxPages: 4 })
    expect(pathsOf(source)).toEqual(['/', '/last', '/new', '/same'])
    expect(source.chunks).toBe(4)
    expect(source.config.failedPages).toEqual([])
  })

  it('the start page may redirect within the site, and not out of it', async () => {
    const other = await siteOf(() => page('Another site'))
    const site = await siteOf(
      sitePages({
        '/': { status: 302, headers: { location: '/home' } },
        '/home': page('Home'),
        '/out': { status: 302, headers: { location: other.url } },
      }),
    )
    expect(pathsOf(await crawl(app, { url: site.url }))).toEqual(['/home'])
    expect(await crawl(app, { url: `${site.url}/out` })).toMatchObject({
      status: 'error',
      error: `The start page ${site.url}/out could not be crawled. It redirects to another site, ${other.url}. Crawl that one instead.`,
    })
    expect(other.requests).toEqual([])
  })

  it('begins relative links at the base that a page declares', async () => {
    const site = await siteOf(
      sitePages({
        '/': page('Start', ['x']).replace('<title>', '<base href="/deep/"><title>'),
        '/deep/x': page('X'),
      }),
    )
    expect(pathsOf(await crawl(app, { url: site.url }))).toEqual(['/', '/deep/x'])
  })

  it('an answer names the page that it quotes by its address', async () => {
    const site = await siteOf(
      sitePages({
        '/': page('Start', ['/a']),
        '/a': page('Ferry', [], 'The ferry to Kotka leaves at noon.'),
      }),
    )
    const own = await testApp({ environment: forCrawls })
    await crawl(own, { url: site.url, name: 'Harbour' })
    const { body } = await own.call<{ assistantMessage: { content: string } }>(
      'POST',
      '/api/agents/default/chat',
      { body: { content: 'When does the ferry to Kotka leave?' } },
    )
    expect(body.assistantMessage.content).toContain(`From “Harbour”, ${site.url}/a, section “Ferry”`)
  })

  it('says of a text that stands on several pages where it is, each with its address', async () => {
    const text = 'Lanterns are lit at dusk along the whole northern pier.'
    const site = await siteOf(
      sitePages({
        '/': page('Start', ['/a', '/b']),
        '/a': page('Pier', [], text),
        '/b': page('Pier', [], text),
      }),
    )
    const { id } = await crawl(app, { url: site.url })
    const [best] = await search(`query=lanterns+northern+pier&source_id=${id}`)
    const places = [best?.metadata.url, ...(best?.metadata.duplicates ?? []).map(({ url }) => url)]
    expect(places.toSorted()).toEqual([`${site.url}/a`, `${site.url}/b`])
  })

  it('the pages of its sitemap, if that is wanted', async () => {
    const answer = sitePages({
      '/': page('Start', ['/linked']),
      '/linked': page('Linked'),
      '/lonely': page('Lonely'),
      '/wrapped': page('Wrapped'),
      '/robots.txt': { body: 'User-agent: *\nDisallow: /secret\nSitemap: /maps.xml' },
      '/maps.xml': '<sitemapindex><sitemap><loc>MAP</loc></sitemap></sitemapindex>',
      '/map.xml':
        '<urlset><loc>BASE/lonely</loc><loc>BASE/secret</loc><loc>http://other.test/x</loc><loc><![CDATA[BASE/wrapped]]></loc></urlset>',
    })
    const site = await siteOf(async (request, response) => {
      const given = await answer(request, response)
      return typeof given === 'string'
        ? given.replace('MAP', `${site.url}/map.xml`).replaceAll('BASE', site.url)
        : given
    })
    expect(pathsOf(await crawl(app, { url: site.url }))).toEqual(['/', '/linked'])
    const source = await crawl(app, { url: site.url, useSitemap: true })
    expect(pathsOf(source)).toEqual(['/', '/linked', '/lonely', '/wrapped'])
    expect(source.config.failedPages).toEqual([
      { url: `${site.url}/secret`, reason: "The site's robots.txt does not allow it." },
    ])
  })
})

describe('what a site asks for', () => {
  it('robots.txt is obeyed, also by redirects, and what it bars is told', async () => {
    const site = await siteOf(
      sitePages({
        '/robots.txt': { headers: { 'content-type': 'text/plain' }, body: 'User-agent: *\nDisallow: /r/\n' },
        '/': page('Start', ['/r/a', '/b', '/to-r']),
        '/b': page('B'),
        '/to-r': { status: 302, headers: { location: '/r/a' } },
        '/r/a': page('Hidden'),
      }),
    )
    const source = await crawl(app, { url: site.url })
    expect(pathsOf(source)).toEqual(['/', '/b'])
    const reason = "The site's robots.txt does not allow it."
    expect(source.config.failedPages).toEqual([
      { url: `${site.url}/r/a`, reason },
      { url: `${site.url}/to-r`, reason },
    ])
    expect(site.asked()).not.toContain('/r/a')
    expect(await crawl(app, { url: `${site.url}/r/a` })).toMatchObject({
      status: 'error',
      error: expect.stringContaining(reason),
    })
  })

  it.each([500, 503])('a robots.txt that is answered with %i keeps us out', async status => {
    const site = await siteOf(({ path }) => (path === '/robots.txt' ? { status } : page('Start')))
    const source = await crawl(app, { url: site.url })
    expect(source).toMatchObject({
      status: 'error',
      error: `The start page ${site.url}/ could not be crawled. The site's robots.txt could not be read. It answered with status ${status}.`,
    })
    expect(site.asked()).toEqual([])
  })

  it.each([401, 403, 404])('one that is answered with %i allows all', async status => {
    const site = await siteOf(({ path }) => (path === '/robots.txt' ? { status } : page('Start')))
    expect((await crawl(app, { url: site.url })).status).toBe('ready')
  })

  it('pages that are not to be indexed lead on, and those that are not to be followed do not', async () => {
    const withMeta = (content: string, links: string[]) =>
      page('Meta', links).replace('<title>', `<meta name="robots" content="${content}"><title>`)
    const site = await siteOf(
      sitePages({
        '/': page('Start', ['/hub', '/end', '/tagged']).replace(
          '<ul>',
          '<ul><a rel="nofollow" href="/login">in</a>',
        ),
        '/hub': withMeta('noindex', ['/leaf']),
        '/end': withMeta('nofollow', ['/beyond']),
        '/tagged': { headers: { 'x-robots-tag': 'noindex' }, body: page('Tagged') },
        '/leaf': page('Leaf'),
        '/beyond': page('Beyond'),
        '/login': page('Log in'),
      }),
    )
    const source = await crawl(app, { url: site.url })
    expect(pathsOf(source)).toEqual(['/', '/end', '/leaf'])
    const reason = 'It asks not to be indexed.'
    expect(source.config.failedPages).toEqual([
      { url: `${site.url}/hub`, reason },
      { url: `${site.url}/tagged`, reason },
    ])
  })

  it('a few requests at a time, with its delay between them', async () => {
    let [open, most] = [0, 0]
    const { starts, restore } = changeCrawls(app)
    onTestFinished(() => void restore())
    const site = await siteOf(async ({ path }) => {
      if (path === '/robots.txt') return { body: 'User-agent: *\nCrawl-delay: 0.15' }
      open += 1
      most = Math.max(most, open)
      await new Promise(resolve => setImmediate(resolve))
      open -= 1
      return path === '/' ? page('Start', ['/a', '/b', '/c', '/d', '/e']) : page(path)
    })
    await crawl(app, { url: site.url })
    expect(site.asked()).toHaveLength(6)
    expect(starts).toHaveLength(6)
    expect(most).toBeLessThanOrEqual(4)
    expect((starts.at(-1) ?? 0) - (starts[0] ?? 0)).toBeGreaterThan(5 * 140)
  })
})

describe("addresses that are nobody else's business", () => {
  it(`are refused as a start page ${errorRow('sources', 400)}`, async () => {
    const site = await siteOf(() => page('Inside'))
    const guarded = await testApp()
    const { port } = new URL(site.url)
    for (const url of [
      site.url,
      `http://localhost:${port}/`,
      `http://2130706433:${port}/`,
      `http://0x7f.1:${port}/`,
      `http://[::ffff:127.0.0.1]:${port}/`,
      'http://169.254.169.254/latest/meta-data/',
      'http://[64:ff9b::a9fe:a9fe]/',
    ])
      expect(await startCrawl(guarded, { url }), url).toMatchObject({
        status: 400,
        body: {
          error: {
            code: 'OUTBOUND_REFUSED',
            message: expect.stringContaining('OUTBOUND_ALLOW'),
          },
        },
      })
    expect(site.requests).toEqual([])
  })

  it.each(['http://169.254.169.254/latest/meta-data/', 'http://2130706434/', 'http://[::ffff:10.0.0.1]/'])(
    'are not asked for robots.txt, which alone may redirect to another site: %s',
    async location => {
      const site = await siteOf(({ path }) =>
        path === '/robots.txt' ? { status: 302, headers: { location } } : page('Start'),
      )
      expect(await crawl(app, { url: site.url })).toMatchObject({
        status: 'error',
        error: expect.stringMatching(
          /robots\.txt could not be read\. .* cannot be reached: .*OUTBOUND_ALLOW/,
        ),
      })
      expect(site.asked()).toEqual([])
    },
  )
})
