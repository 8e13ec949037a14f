import { describe, expect, it, test } from 'vitest'
import type { TestApp } from '#test/support/build-app.ts'
import { crawl, crawlAgain, crawled, pathsOf } from '#test/support/crawl.ts'
import { changeCrawls } from '#test/support/crawl-job.ts'
import { search, setStage } from '#test/support/crawl-stage.ts'
import { page } from '#test/support/site-server.ts'

const banner = 'Everything is sent free of charge this week.'
const footer = 'The society was founded in 1884 by Ada Smith.'
const towns = ['Altona', 'Bergen', 'Cadiz', 'Dover', 'Esbjerg', 'Faro']

/** A page with what all of its site have, and a price that is its own. */
const shop = (town: string, price: string, links: readonly string[] = [], extra = '') =>
  page(town, links)
    .replace('<main>', `<p>${banner}</p><main>`)
    .replace(
      '</body>',
      `<div class="card"><h3>Ferry to ${town}</h3><b>Price</b><p>${price} EUR</p></div>${extra}<footer><p>${footer}</p></footer></body>`,
    )

const site = () => ({
  '/': shop(
    'Start',
    '0',
    towns.map(town => `/${town}`),
  ),
  ...Object.fromEntries(towns.map((town, at) => [`/${town}`, shop(town, `4${at}`)])),
})

/** In passages that search shows: on how many pages a text stands, by path. */
async function pagesWith(app: TestApp, text: string): Promise<string[]> {
  const rows = await app.service.infrastructure.agentDatabases.use('default', ({ db }) =>
    db
      .selectFrom('chunks')
      .innerJoin('crawl_pages', 'crawl_pages.document', 'chunks.document')
      .innerJoin('chunk_generations', 'chunk_generations.document', 'chunks.document')
      .whereRef('chunks.sequence', '>=', 'chunk_generations.first_sequence')
      .whereRef('chunks.sequence', '<=', 'chunk_generations.last_sequence')
      .select(['url', 'content'])
      .execute(),
  )
  const found = rows.filter(({ content }) => content.includes(text)).map(({ url }) => new URL(url).pathname)
  return [...new Set(found)].toSorted()
}

const everywhere = ['/', ...towns.map(town => `/${town}`)].toSorted()

describe('what pages of a site have in common', () => {
  it('stands in the passages of one page, and all else on each', async () => {
    const stage = await setStage(site())
    const source = await crawl(stage.app, { url: stage.site.url })
    expect(source.config).toMatchObject({ pageCount: 7, failedPages: [] })
    for (const text of [banner, footer]) expect(await pagesWith(stage.app, text)).toEqual(['/'])
    // A heading that all have stays with what it is about.
    expect(await pagesWith(stage.app, 'Price')).toEqual(everywhere)
    expect(await search(stage.app, 'Ferry+Dover+price')).toEqual(
      expect.arrayContaining([expect.stringMatching(/Ferry to Dover[\s\S]*43 EUR/)]),
    )
  })

  it('is found again when one page changes, when the one that had it goes, and when it is no longer common', async () => {
    const {
      app,
      site: { url },
      pages,
    } = await setStage(site())
    const source = await crawl(app, { url })
    pages.set('/Cadiz', shop('Cadiz', '99'))
    expect((await crawlAgain(app, source.id)).config).toMatchObject({ changedPages: 1, unchangedPages: 6 })
    expect(await pagesWith(app, '99 EUR')).toEqual(['/Cadiz'])
    expect(await pagesWith(app, footer)).toEqual(['/'])

    pages.set(
      '/',
      page(
        'Start',
        towns.map(town => `/${town}`),
      ),
    )
    expect((await crawlAgain(app, source.id)).config).toMatchObject({ changedPages: 1, unchangedPages: 6 })
    expect(await pagesWith(app, footer)).toEqual(['/Altona'])

    for (const town of towns.slice(3)) pages.set(`/${town}`, page(town))
    await crawlAgain(app, source.id)
    expect(await pagesWith(app, footer)).toEqual(['/Altona', '/Bergen', '/Cadiz'])
  })

  it('is taken out of a page that was read before it was known, and given back where it was none', async () => {
    const notice = '<p>Closed on Mondays.</p>'
    const {
      app,
      site: { url },
    } = await setStage({
      // The first pages have a text that most of the later ones lack, and lack the one that these have.
      '/': page('Start', ['/Altona', '/Bergen', '/Cadiz']).replace('</body>', `${notice}</body>`),
      '/Altona': page('Altona', ['/Dover', '/Esbjerg', '/Faro']).replace('</body>', `${notice}</body>`),
      '/Bergen': page('Bergen').replace('</body>', `${notice}</body>`),
      ...Object.fromEntries(towns.slice(2).map(town => [`/${town}`, shop(town, '1')])),
    })
    await crawl(app, { url })
    expect(await pagesWith(app, 'Closed on Mondays.')).toEqual(['/', '/Altona', '/Bergen'])
    expect(await pagesWith(app, footer)).toEqual(['/Cadiz'])
  })

  it('is the same in a crawl of many turns', async () => {
    const {
      app,
      site: { url },
    } = await setStage(site())
    changeCrawls(app, undefined, 0)
    const { id } = await crawl(app, { url })
    await expect.poll(async () => (await crawled(app, id)).status).toBe('ready')
    expect(await pagesWith(app, footer)).toEqual(['/'])
    for (const [at, town] of towns.entries()) expect(await pagesWith(app, `4${at} EUR`)).toEqual([`/${town}`])
  })

  it('is not what two pages say', async () => {
    const {
      app,
      site: { url },
    } = await setStage({ '/': shop('Start', '1', ['/Faro']), '/Faro': shop('Faro', '2') })
    await crawl(app, { url })
    expect(await pagesWith(app, footer)).toEqual(['/', '/Faro'])
  })
})

const naming = (path: string, html: string) =>
  html.replace('<title>', `<link rel="canonical" href="${path}"><title>`)

test.each([
  [
    'names the start page',
    { '/a': naming('/', page('Alder')), '/b': naming('/', page('Birch')) },
    ['/', '/a', '/b'],
  ],
  [
    'names a page of less text',
    { '/a': naming('/b', page('Alder')), '/b': page('Birch') },
    ['/', '/a', '/b'],
  ],
  ['names one that is not linked', { '/a': naming('/c', page('Alder')), '/c': page('Cedar') }, ['/', '/a']],
  ['says the same', { '/a': naming('/c', page('Cedar')), '/c': page('Cedar') }, ['/', '/c']],
  ['says less', { '/a': naming('/c', page('Cedar')), '/c': shop('Cedar', '7') }, ['/', '/c']],
  [
    'says more',
    { '/a': naming('/c', shop('Cedar', '7')), '/b': page('Birch', ['/c']), '/c': page('Cedar') },
    ['/', '/a', '/b', '/c'],
  ],
  [
    'names one that redirects to it',
    { '/a': naming('/c', page('Cedar')), '/c': { status: 301, headers: { location: '/a' } } },
    ['/', '/c'],
  ],
])('a page that %s has the address by which nothing is lost', async (_what, pages, expected) => {
  const {
    app,
    site: { url },
  } = await setStage({ '/': naming('/', page('Start', ['/a', '/b'])), ...pages })
  const source = await crawl(app, { url })
  expect(pathsOf(source)).toEqual(expected)
  for (const path of expected) expect(await pagesWith(app, 'tells of')).toContain(path)
  expect(pathsOf(await crawlAgain(app, source.id))).toEqual(expected)
})

const head = (links: string) => page('Start').replace('<title>', `${links}<title>`)
const sitemap = (urls: string) => ({ headers: { 'content-type': 'application/xml' }, body: urls })
const urlset = '<urlset><url><loc>/leaf</loc></url></urlset>'

test.each([
  ['the next page', { '/': head('<link rel="next" href="/leaf">') }],
  ['the page before', { '/': head('<link rel="PREV nofollower" href="/leaf">') }],
  ['another language', { '/': head('<link rel="alternate" hreflang="de" href="/leaf">') }],
  ['a usual sitemap', { '/': head(''), '/sitemap.xml': sitemap(urlset) }],
  [
    'the usual index of sitemaps',
    {
      '/': head(''),
      '/sitemap_index.xml': sitemap('<sitemapindex><sitemap><loc>/s.xml</loc></sitemap></sitemapindex>'),
      '/s.xml': sitemap(urlset),
    },
  ],
  ['the sitemap of a well-known program', { '/': head(''), '/wp-sitemap.xml': sitemap(urlset) }],
  [
    'a later sitemap, as the first is a page',
    { '/': head(''), '/sitemap.xml': page('Not here'), '/wp-sitemap.xml': sitemap(urlset) },
  ],
])('%s is visited', async (_what, pages) => {
  const {
    app,
    site: { url },
  } = await setStage({ ...pages, '/leaf': page('Leaf') })
  const source = await crawl(app, { url, useSitemap: true, maxPages: 3 })
  expect(pathsOf(source)).toEqual(['/', '/leaf'])
})

test.each([
  ['a feed', { '/': head('<link rel="alternate" hreflang="de" type="application/rss+xml" href="/leaf">') }],
  ['a style', { '/': head('<link rel="stylesheet" href="/leaf">') }],
  ['what is not to be followed', { '/': head('<link rel="next nofollow" href="/leaf">') }],
])('%s is not', async (_what, pages) => {
  const {
    app,
    site: { url },
  } = await setStage({ ...pages, '/leaf': page('Leaf') })
  expect(pathsOf(await crawl(app, { url }))).toEqual(['/'])
})

test.each([
  [{}, /^The sitemap could not be read\. It answered with status 404\.$/],
  [{ '/sitemap.xml': page('Not here') }, /It is no sitemap\.$/],
  [
    { '/sitemap.xml': sitemap('<urlset><url><loc>https://www.site.example/a</loc></url></urlset>') },
    /It names pages of another site, such as https:\/\/www\.site\.example\/a\.$/,
  ],
])('a sitemap that leads nowhere is named: %#', async (pages, reason) => {
  const {
    app,
    site: { url },
  } = await setStage({ '/': page('Start'), ...pages })
  const { config } = await crawl(app, { url, useSitemap: true })
  expect(config.failedPages).toEqual([{ url: `${url}/sitemap.xml`, reason: expect.stringMatching(reason) }])
})
