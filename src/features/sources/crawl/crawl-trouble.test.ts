import { gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { crawl, crawlAgain, crawled, pathsOf, startCrawl } from '#test/support/crawl.ts'
import { changeCrawls } from '#test/support/crawl-job.ts'
import { asked, chunksOf, get, search, setStage } from '#test/support/crawl-stage.ts'
import { page, startSite } from '#test/support/site-server.ts'
import { crawlLimits } from './crawl-limits.ts'
import type { AddPages } from './write-page.worker.ts'

const sources = '/api/agents/default/sources'
const noIndex = (html: string) => html.replace('<title>', '<meta name="robots" content="noindex"><title>')

describe('a page without text', () => {
  const shell = (links: string) =>
    `<title>App</title><div id="root"></div>${links}<script src="app.js"></script>`
  const reason = 'It holds no text: what scripts would write is not read.'

  it('is told of, and leads on', async () => {
    const { app, site } = await setStage({
      '/': page('Start', ['/app']),
      '/app': shell('<a href="/leaf"></a>'),
      '/leaf': page('Leaf'),
    })
    const source = await crawl(app, { url: site.url, render: 'never' })
    expect([source.status, pathsOf(source)]).toEqual(['ready', ['/', '/leaf']])
    expect(source.config.failedPages).toEqual([{ url: `${site.url}/app`, reason }])
  })

  it('that is all of a site is an error that says so', async () => {
    const { app, site } = await setStage({ '/': shell('') })
    expect(await crawl(app, { url: site.url, render: 'never' })).toMatchObject({
      status: 'error',
      error: `The start page ${site.url}/ could not be crawled. ${reason}`,
    })
  })
})

describe('what is found stays found', () => {
  it.each([
    ['is not indexed', noIndex('<title>Old</title><h1>Moved</h1>')],
    ['has no text', '<title>Old</title>'],
  ])('while a page names it as its own address that %s', async (_what, old) => {
    const { app, site, pages } = await setStage({
      '/': page('Start', ['/leaf', '/old']),
      '/leaf': page('Leaf'),
    })
    pages.set('/old', `<link rel="canonical" href="/leaf">${old}`)
    const source = await crawl(app, { url: site.url })
    expect(pathsOf(source)).toEqual(['/', '/leaf'])
    pages.set('/', page('Start', ['/old', '/leaf']))
    const again = await crawlAgain(app, source.id)
    expect(pathsOf(again)).toEqual(['/', '/leaf'])
    expect(again.config).toMatchObject({ changedPages: 0, unchangedPages: 2 })
  })

  it('while a page leads to it that is not indexed itself, and is in trouble', async () => {
    const { app, site, pages } = await setStage({
      '/': page('Start', ['/hub']),
      '/hub': noIndex(page('Hub', ['/leaf'])),
      '/leaf': page('Leaf'),
    })
    const source = await crawl(app, { url: site.url })
    expect(source).toMatchObject({ chunks: 2, config: { pageCount: 2 } })
    const before = await chunksOf(app)
    pages.set('/hub', { status: 503 })
    const again = await crawlAgain(app, source.id)
    expect(again).toMatchObject({ status: 'ready', chunks: 2, config: { pageCount: 2, unchangedPages: 2 } })
    expect(again.config.failedPages).toEqual([
      { url: `${site.url}/hub`, reason: 'It answered with status 503.' },
    ])
    expect(await chunksOf(app)).toEqual(before)

    pages.set('/hub', noIndex(page('Hub')))
    expect(pathsOf(await crawlAgain(app, source.id))).toEqual(['/'])
    pages.set('/hub', page('Hub', ['/leaf']))
    expect(pathsOf(await crawlAgain(app, source.id))).toEqual(['/', '/hub', '/leaf'])
    pages.set('/hub', noIndex(page('Hub', ['/leaf'])))
    expect(pathsOf(await crawlAgain(app, source.id))).toEqual(['/', '/leaf'])
    expect((await search(app, 'Hub')).filter(content => content.includes('page of Hub'))).toEqual([])
  })

  it('while the sitemap that names it is in trouble, which is told', async () => {
    const { app, site, pages } = await setStage({ '/': page('Start'), '/lonely': page('Lonely') })
    const map = `<urlset><url><loc>${site.url}/lonely</loc></url></urlset>`
    pages.set('/sitemap.xml', map)
    const source = await crawl(app, { url: site.url, useSitemap: true })
    expect(pathsOf(source)).toEqual(['/', '/lonely'])
    expect(source.config.failedPages).toEqual([])
    pages.set('/sitemap.xml', { status: 500 })
    for (const _ of ['once', 'and once more']) {
      const again = await crawlAgain(app, source.id)
      expect(pathsOf(again)).toEqual(['/', '/lonely'])
      expect(again.config.failedPages).toEqual([
        {
          url: `${site.url}/sitemap.xml`,
          reason: 'The sitemap could not be read. It answered with status 500.',
        },
      ])
    }
    pages.delete('/sitemap.xml')
    expect(pathsOf(await crawlAgain(app, source.id))).toEqual(['/'])
  })

  it('while one of several sitemaps is in trouble, which is told of that one', async () => {
    const { app, site, pages } = await setStage({ '/': page('Start'), '/lonely': page('Lonely') })
    const listOf = (path: string) => `<urlset><url><loc>${site.url}${path}</loc></url></urlset>`
    pages.set('/robots.txt', 'Sitemap: /first.xml\nSitemap: /second.xml')
    pages.set('/first.xml', listOf('/'))
    pages.set('/second.xml', listOf('/lonely'))
    const source = await crawl(app, { url: site.url, useSitemap: true })
    expect(pathsOf(source)).toEqual(['/', '/lonely'])
    pages.set('/second.xml', { status: 500 })
    for (const _ of ['once', 'and once more']) {
      const again = await crawlAgain(app, source.id)
      expect(pathsOf(again)).toEqual(['/', '/lonely'])
      expect(again.config.failedPages).toEqual([
        {
          url: `${site.url}/second.xml`,
          reason: 'The sitemap could not be read. It answered with status 500.',
        },
      ])
    }
  })

  it('while it redirects in a circle', async () => {
    const { app, site, pages } = await setStage({ '/': page('Start', ['/a']), '/a': page('Alder') })
    const source = await crawl(app, { url: site.url })
    pages.set('/a', { status: 302, headers: { location: '/a' } })
    const again = await crawlAgain(app, source.id)
    expect(pathsOf(again)).toEqual(['/', '/a'])
    expect(again.config.failedPages).toEqual([
      { url: `${site.url}/a`, reason: 'It redirects in a circle. Its last good copy is kept.' },
    ])
  })

  it('while what is sent of it and of the sitemap is cut short', async () => {
    const { app, site, pages } = await setStage({ '/': page('Start', ['/a']), '/a': page('Alder') })
    pages.set('/lonely', page('Lonely'))
    pages.set('/sitemap.xml', `<urlset><url><loc>${site.url}/lonely</loc></url></urlset>`)
    const source = await crawl(app, { url: site.url, useSitemap: true })
    expect(pathsOf(source)).toEqual(['/', '/a', '/lonely'])
    const before = await chunksOf(app)
    const cutShort = (text: string) => ({
      headers: { 'content-type': 'text/html', 'content-encoding': 'gzip' },
      body: gzipSync(text).subarray(0, -12),
    })
    pages.set('/a', cutShort(page('Alder', ['/b'])))
    pages.set('/sitemap.xml', cutShort(`<urlset><url><loc>${site.url}/other</loc></url></urlset>`))
    const again = await crawlAgain(app, source.id)
    expect(pathsOf(again)).toEqual(['/', '/a', '/lonely'])
    const reason = `The request to ${new URL(site.url).host} failed: its compressed answer is cut short.`
    expect(again.config.failedPages).toEqual([
      { url: `${site.url}/sitemap.xml`, reason: `The sitemap could not be read. ${reason}` },
      { url: `${site.url}/a`, reason: `${reason} Its last good copy is kept.` },
    ])
    expect(await chunksOf(app)).toEqual(before)
  })

  it('when the process died right after it had found the start page in trouble', async () => {
    const { app, site, pages } = await setStage({ '/': page('Start', ['/a']), '/a': page('Alder') })
    const source = await crawl(app, { url: site.url })
    const before = await chunksOf(app)
    const { runner, agentDatabases } = app.service.infrastructure
    await runner.stop(10_000)
    pages.set('/', { status: 500 })
    await app.call('POST', `${sources}/${source.id}/reindex`)
    await agentDatabases.use('default', ({ db }) =>
      db
        .updateTable('crawl_queue')
        .set({ state: 'failed', reason: 'It answered with status 500.' })
        .where('position', '=', 0)
        .execute(),
    )
    await runner.start()
    expect(await crawled(app, source.id)).toMatchObject({
      status: 'error',
      error: expect.stringContaining('It answered with status 500.'),
      chunks: 2,
      config: { pageCount: 2 },
    })
    expect(await chunksOf(app)).toEqual(before)
  })

  it('when a page has become too much to be cut', async () => {
    const { app, site, pages } = await setStage({ '/': page('Start', ['/a']), '/a': page('Alder') })
    const source = await crawl(app, { url: site.url })
    const before = await chunksOf(app)
    changeCrawls(app, () => ({ draftPage: async () => false }), 0)
    pages.set('/a', page('Ash'))
    await crawlAgain(app, source.id)
    await expect.poll(async () => (await crawled(app, source.id)).status).toBe('ready')
    const again = await crawled(app, source.id)
    expect(again).toMatchObject({ status: 'ready', chunks: 2, config: { pageCount: 2, changedPages: 0 } })
    expect(again.config.failedPages).toEqual([
      {
        url: `${site.url}/a`,
        reason: 'It takes too much time or memory to read. Its last good copy is kept.',
      },
    ])
    expect(await chunksOf(app)).toEqual(before)
  })
})

it('new pages that can not be written together are written one by one', async () => {
  const { app, site } = await setStage({
    '/': page('Start', ['/a', '/b']),
    '/a': page('Alder', ['/c']),
    '/b': page('Birch', ['/c']),
    '/c': page('Cedar'),
  })
  const together: string[][] = []
  const change = () => ({
    async addPages({ pages }: AddPages) {
      together.push(pages.map(({ document }) => document))
      return undefined
    },
  })
  changeCrawls(app, change, 0)
  const { id } = await crawl(app, { url: site.url })
  await expect.poll(async () => (await crawled(app, id)).status).toBe('ready')
  expect(await crawled(app, id)).toMatchObject({ chunks: 4, config: { pageCount: 4, failedPages: [] } })
  expect(new Set(together.flat()).size).toBe(4)
})

describe('a source that is deleted while it is crawled', () => {
  it('asks its site for nothing more, and leaves nothing', async () => {
    const { app, site, pages, hold } = await setStage({})
    const paths = Array.from({ length: 40 }, (_, at) => `/${at}`)
    pages.set('/', page('Start', paths))
    for (const path of paths) pages.set(path, page(path))
    const { arrived, release } = hold('/6')
    const { body } = await startCrawl(app, { url: site.url })
    await arrived
    expect((await app.call('DELETE', `${sources}/${body.id}`)).status).toBe(200)
    const before = site.requests.length
    release()
    await app.service.infrastructure.runner.idle()
    expect(site.requests.length - before).toBeLessThanOrEqual(4)
    const left = await app.service.infrastructure.agentDatabases.use('default', async ({ db }) => [
      ...(await db.selectFrom('sources').select('id').execute()),
      ...(await db.selectFrom('chunks').select('id').execute()),
      ...(await db.selectFrom('chunk_generations').select('document').execute()),
      ...(await db.selectFrom('crawl_pages').select('url').execute()),
      ...(await db.selectFrom('crawl_queue').select('url').execute()),
      // Rows of the audit log wait here for a moment.
      ...(await db.selectFrom('outbox').select('name').where('name', '!=', 'audit').execute()),
    ])
    expect(left).toEqual([])
  })
})

describe('robots.txt and sitemaps', () => {
  it('are asked for once in a crawl, however many turns it takes, and what it has cost is nobody’s business', async () => {
    const { app, site } = await setStage({
      '/': page('Start', ['/a']),
      '/a': page('Alder', ['/b']),
      '/b': page('Birch', ['/c']),
      '/c': page('Cedar'),
    })
    changeCrawls(app, undefined, 0)
    const source = await crawl(app, { url: site.url })
    await expect.poll(async () => (await crawled(app, source.id)).status).toBe('ready')
    expect(site.requests.filter(({ path }) => path === '/robots.txt')).toHaveLength(1)
    expect(asked(site)).toEqual(['/', '/a', '/b', '/c'])
    expect((await crawled(app, source.id)).config).not.toHaveProperty('spent')
  })

  it('may be endless, and count as far as they are bounded', async () => {
    const { app, site } = await setStage({ '/': page('Start', ['/secret', '/open']), '/open': page('Open') })
    const endless = await startSite(({ path }, response) => {
      if (path !== '/robots.txt') return path === '/' ? page('Start', ['/secret', '/open']) : page(path)
      response.writeHead(200, { 'content-type': 'text/plain' })
      response.write('User-agent: *\nDisallow: /secret\n')
      const more = () => {
        while (!response.destroyed && response.write('# and so on\n'.repeat(1_000)));
      }
      response.on('drain', more)
      more()
      return null
    })
    onTestFinished(() => endless[Symbol.asyncDispose]())
    expect(pathsOf(await crawl(app, { url: endless.url }))).toEqual(['/', '/open'])
    expect(site.requests).toEqual([])
  })

  it('sitemaps are read once, however often they are named, and so none of a few is left out', async () => {
    const { app, site, pages } = await setStage({ '/': page('Start') })
    const locations = (...paths: string[]) => paths.map(path => `<loc>${site.url}${path}</loc>`).join('')
    const maps = Array.from({ length: crawlLimits.sitemaps - 1 }, (_, at) => `/map${at}.xml`)
    const named = ['/maps.xml', ...maps.slice(0, 3), '/maps.xml', ...maps]
    pages.set('/robots.txt', 'Sitemap: /maps.xml\n'.repeat(crawlLimits.sitemaps))
    pages.set('/maps.xml', `<sitemapindex>${locations(...named)}</sitemapindex>`)
    for (const [at, path] of maps.entries()) {
      pages.set(path, `<urlset>${locations(`/page${at}`)}</urlset>`)
      pages.set(`/page${at}`, page(`Page ${at}`))
    }
    const source = await crawl(app, { url: site.url, useSitemap: true })
    const asked = site.asked().filter(path => path.endsWith('.xml'))
    expect(asked).toEqual(['/maps.xml', ...maps])
    expect(pathsOf(source)).toEqual(['/', ...maps.map((_, at) => `/page${at}`)])
  })

  it('keep to the pace of the site, and sitemaps to the site itself', async () => {
    const { app, site: other } = await setStage({ '/map.xml': '<urlset/>' })
    const { starts } = changeCrawls(app)
    const maps = Array.from({ length: 3 }, (_, at) => `Sitemap: /map${at}.xml`).join('\n')
    const site = await startSite(({ path }) => {
      if (path === '/robots.txt') return { body: `User-agent: *\nCrawl-delay: 0.2\n${maps}` }
      if (path === '/map0.xml') return { status: 302, headers: { location: `${other.url}/map.xml` } }
      return path.endsWith('.xml') ? '<urlset/>' : page('Start')
    })
    onTestFinished(() => site[Symbol.asyncDispose]())
    const source = await crawl(app, { url: site.url, useSitemap: true })
    expect(source.config.failedPages).toEqual([
      { url: `${site.url}/map0.xml`, reason: expect.stringContaining('it redirects to another site') },
    ])
    expect(site.asked()).toHaveLength(4)
    expect(starts).toHaveLength(4)
    expect((starts.at(-1) ?? 0) - (starts[0] ?? 0)).toBeGreaterThan(3 * 190)
    expect(other.requests).toEqual([])
  })
})

describe('a page that takes its time', () => {
  const leaves = Array.from({ length: 40 }, (_, at) => `/leaf${at}`)
  const branches = ['/slow', ...leaves]

  it('does not hold up those behind it, and leads on before them all the same', async () => {
    const { app, site, hold } = await setStage({
      '/': page('Start', branches),
      '/slow': page('Slow', ['/slow/first']),
      '/slow/first': page('First'),
      ...Object.fromEntries(leaves.map(path => [path, page(path, [`${path}/last`])])),
    })
    const slow = hold('/slow')
    const last = hold('/leaf39')
    const { body } = await startCrawl(app, { url: site.url, maxPages: 43 })
    await last.arrived
    last.release()
    slow.release()
    expect(pathsOf(await crawled(app, body.id))).toEqual(['/', ...branches, '/slow/first'].toSorted())
    expect(site.asked()).toHaveLength(43)
  })

  it('holds up nothing either where there is another one', async () => {
    const { app, site, hold } = await setStage({
      '/': page('Start', ['/slower', ...branches]),
      '/slower': page('Slower'),
      '/slow': page('Slow'),
      ...Object.fromEntries(leaves.map(path => [path, page(path)])),
    })
    const held = [hold('/slower'), hold('/slow')]
    const last = hold('/leaf39')
    const { body } = await startCrawl(app, { url: site.url })
    await last.arrived
    for (const { release } of [...held, last]) release()
    expect(pathsOf(await crawled(app, body.id))).toEqual(['/', '/slower', ...branches].toSorted())
  })

  it('lets no more pages be asked for than may be kept', async () => {
    const { app, site, hold } = await setStage({
      '/': page('Start', branches),
      '/slow': page('Slow'),
      ...Object.fromEntries(leaves.map(path => [path, page(path)])),
    })
    const slow = hold('/slow')
    const last = hold('/leaf27')
    const { body } = await startCrawl(app, { url: site.url, maxPages: 30 })
    await last.arrived
    last.release()
    slow.release()
    expect(pathsOf(await crawled(app, body.id))).toEqual(['/', ...branches.slice(0, 29)].toSorted())
    expect(site.asked().toSorted()).toEqual(['/', ...branches.slice(0, 29)].toSorted())
  })
})

it('pages that wait for one before them are no more than memory has room for', async () => {
  const leaves = Array.from({ length: 20 }, (_, at) => `/leaf${at}`)
  const { app, site, hold } = await setStage({
    '/': page('Start', ['/slow', ...leaves]),
    '/slow': page('Slow'),
    ...Object.fromEntries(leaves.map(path => [path, page(path)])),
  })
  const other = await startSite(({ path }) => page(path, [`${path}x`]))
  onTestFinished(() => other[Symbol.asyncDispose]())
  const enough = crawlLimits.visits - 1
  const padding = Buffer.alloc(crawlLimits.bytesAhead / enough + 1)
  const { promise: areRead, resolve } = Promise.withResolvers<void>()
  let read = 0
  changeCrawls(app, ({ readPage }) => ({
    async readPage(raw, signal) {
      const found = await readPage(raw, signal)
      if (found === undefined || !raw.url.includes('/leaf')) return found
      read += 1
      if (read === enough) resolve()
      return { ...found, content: Buffer.concat([found.content, padding]) }
    },
  }))
  const slow = hold('/slow')
  const { body } = await startCrawl(app, { url: site.url })
  await areRead
  // Meanwhile another crawl goes far: as far as this one would if nothing held it back.
  const beside = await startCrawl(app, { url: other.url, maxDepth: 5 })
  const far = { status: 'ready', config: { pageCount: 6 } }
  await expect.poll(() => get(app, beside.body)).toMatchObject(far)
  // Those that were under way when there were enough are there, too.
  expect(site.asked().length).toBeLessThanOrEqual(2 * crawlLimits.visits)
  slow.release()
  expect(pathsOf(await crawled(app, body.id))).toEqual(['/', '/slow', ...leaves].toSorted())
})

describe('pages that name another address as their own', () => {
  const naming = (path: string, html: string) =>
    html.replace('<title>', `<link rel="canonical" href="${path}"><title>`)

  it('keep theirs where nothing is there, which is asked once, and no page is lost', async () => {
    const { app, site } = await setStage({
      '/': naming('/lost', page('Start', ['/a', '/b', '/gone', '/c'])),
      '/a': naming('/lost', page('Alder')),
      '/b': naming('/gone', page('Birch')),
      '/gone': { status: 410 },
      '/c': naming('/d', page('Dogwood')),
      '/d': naming('/d', page('Dogwood')),
    })
    const source = await crawl(app, { url: site.url })
    expect(pathsOf(source)).toEqual(['/', '/a', '/b', '/d'])
    const asked = site.requests.filter(({ path }) => path === '/lost').map(({ method }) => method)
    expect(asked).toEqual(['GET'])
    expect(pathsOf(await crawlAgain(app, source.id))).toEqual(['/', '/a', '/b', '/d'])
  })

  it('are believed where there is no clear answer', async () => {
    const { app, site } = await setStage({
      '/': page('Start', ['/a']),
      '/a': naming('/shut', page('Alder')),
      '/shut': { status: 405 },
    })
    expect(pathsOf(await crawl(app, { url: site.url }))).toEqual(['/', '/shut'])
  })
})
