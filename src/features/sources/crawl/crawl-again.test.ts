import { describe, expect, it, onTestFinished } from 'vitest'
import { errorRow, row } from '#test/spec/row.ts'
import {
  type CrawledSource,
  crawl,
  crawlAgain,
  crawled,
  forCrawls,
  pathsOf,
  startCrawl,
} from '#test/support/crawl.ts'
import { changeCrawls } from '#test/support/crawl-job.ts'
import { asked, chunksOf, get, search, setStage } from '#test/support/crawl-stage.ts'
import { manualClock } from '#test/support/manual-clock.ts'
import { startModelServer } from '#test/support/model-server.ts'
import { page } from '#test/support/site-server.ts'
import { crawlJobName } from '../jobs/source-jobs.ts'

const sources = '/api/agents/default/sources'

describe(`crawling again ${row('POST /api/agents/{id}/sources/{sourceId}/reindex')}`, () => {
  it('asks what has changed, and indexes nothing else', async () => {
    const { app, site, pages } = await setStage({
      '/': page('Start', ['/a', '/b', '/c']),
      '/a': page('Alder'),
      '/b': page('Birch'),
      '/c': page('Cedar'),
    })
    const source = await crawl(app, { url: site.url })
    expect(source.config).not.toHaveProperty('changedPages')
    const before = await chunksOf(app)
    expect(asked(site)).toEqual(['/', '/a', '/b', '/c'])

    pages.set('/b', page('Birch', [], 'It has white bark.'))
    const answer = await app.call('POST', `${sources}/${source.id}/reindex`)
    expect(answer).toMatchObject({
      status: 200,
      body: { id: source.id, type: 'crawl', status: 'crawling', message: expect.any(String) },
    })
    const again = await crawled(app, source.id)
    expect(again).toMatchObject({
      status: 'ready',
      chunks: 4,
      config: { pageCount: 4, changedPages: 1, unchangedPages: 3 },
    })
    expect(asked(site)).toEqual(['?/', '?/a', '?/b', '?/c'])
    const after = await chunksOf(app)
    expect(after.filter(chunk => before.includes(chunk))).toHaveLength(3)
    expect(after.filter(chunk => !before.includes(chunk))).toEqual([expect.stringMatching(/^\/b /)])
    expect(Object.values(again.config.pageHashes ?? {})).not.toEqual(
      Object.values(source.config.pageHashes ?? {}),
    )
    expect(await search(app, 'bark')).toEqual([expect.stringContaining('white bark')])
  })

  it('knows by the hash of the text that a page is as it was, whatever its server says', async () => {
    const { app, site, pages } = await setStage({ '/': page('Start') })
    const source = await crawl(app, { url: site.url })
    const before = await chunksOf(app)
    pages.set('/', page('Start').replace('</head>', '<script>visits = 7</script></head>'))
    const again = await crawlAgain(app, source.id)
    expect(again.config).toMatchObject({ changedPages: 0, unchangedPages: 1 })
    expect(await chunksOf(app)).toEqual(before)
  })

  it('embeds all pages anew by another model, which is not done again by the next crawl', async () => {
    const server = await startModelServer(({ body }) => {
      const { input } = body as { input: string[] }
      const data = input.map((text, index) => ({ index, embedding: [text.length, 1] }))
      return { json: { object: 'list', data, model: 'm', usage: { prompt_tokens: 1, total_tokens: 1 } } }
    })
    onTestFinished(() => server[Symbol.asyncDispose]())
    const environment = { ...forCrawls, OPENAI_COMPATIBLE_BASE_URL: server.url }
    const { app, site } = await setStage({ '/': page('Start', ['/a']), '/a': page('Alder') }, { environment })
    const source = await crawl(app, { url: site.url })
    const before = await chunksOf(app)
    const settings = { embedding_provider: 'openai-compatible', embedding_model: 'm' }
    await app.call('PUT', '/api/agents/default/settings', { body: settings })
    await app.service.infrastructure.runner.idle()
    expect(server.requests).toHaveLength(2)
    const again = await crawlAgain(app, source.id)
    expect(again).toMatchObject({ status: 'ready', config: { changedPages: 0, unchangedPages: 2 } })
    expect(await chunksOf(app)).toEqual(before)
    expect(server.requests).toHaveLength(2)
  })

  it('takes out pages that are gone, and those that nothing leads to', async () => {
    const { app, site, pages } = await setStage({
      '/': page('Start', ['/gone', '/former', '/barred', '/stays']),
      '/gone': page('Gone', ['/below']),
      '/below': page('Below'),
      '/former': page('Former'),
      '/barred': page('Barred'),
      '/stays': page('Stays'),
    })
    const source = await crawl(app, { url: site.url })
    expect(source.config.pageCount).toBe(6)
    pages.set('/', page('Start', ['/gone', '/barred', '/stays', '/new']))
    pages.set('/gone', { status: 410 })
    pages.set('/barred', page('Barred').replace('<title>', '<meta name="robots" content="noindex"><title>'))
    pages.set('/new', page('New'))
    const again = await crawlAgain(app, source.id)
    expect(pathsOf(again)).toEqual(['/', '/new', '/stays'])
    expect(again).toMatchObject({ chunks: 3, config: { pageCount: 3, changedPages: 1, unchangedPages: 2 } })
    expect((await chunksOf(app)).map(chunk => chunk.split(' ')[0]).toSorted()).toEqual([
      '/',
      '/new',
      '/stays',
    ])
    expect((await search(app, 'Former')).filter(content => content.includes('Former'))).toEqual([])
  })

  it('keeps the last good copy of a page in trouble, and of those that it leads to', async () => {
    const { app, site, pages } = await setStage({
      '/': page('Start', ['/moved', '/hub']),
      '/hub': page('Hub', ['/leaf']),
      '/leaf': page('Leaf'),
      '/moved': { status: 301, headers: { location: '/target' } },
      '/target': page('Target'),
    })
    const source = await crawl(app, { url: site.url })
    const before = await chunksOf(app)
    pages.set('/hub', { status: 502 })
    pages.set('/moved', { status: 403 })
    const again = await crawlAgain(app, source.id)
    expect(again).toMatchObject({
      status: 'ready',
      config: { pageCount: 4, changedPages: 0, unchangedPages: 2 },
    })
    expect(pathsOf(again)).toEqual(pathsOf(source))
    expect(again.config.failedPages).toEqual([
      { url: `${site.url}/moved`, reason: 'It answered with status 403. Its last good copy is kept.' },
      { url: `${site.url}/hub`, reason: 'It answered with status 502. Its last good copy is kept.' },
    ])
    expect(await chunksOf(app)).toEqual(before)
  })

  it('ends in error when the start page fails, with all that was found before', async () => {
    const { app, site, pages } = await setStage({ '/': page('Start', ['/a']), '/a': page('Alder') })
    const source = await crawl(app, { url: site.url })
    pages.delete('/')
    const again = await crawlAgain(app, source.id)
    expect(again).toMatchObject({
      status: 'error',
      error: `The start page ${site.url}/ could not be crawled. It answered with status 404.`,
      chunks: 2,
      config: { pageCount: 2, pageHashes: source.config.pageHashes },
    })
    expect(await search(app, 'Alder')).not.toEqual([])
    pages.set('/', page('Start', ['/a']))
    expect(await crawlAgain(app, source.id)).toMatchObject({ status: 'ready', config: { unchangedPages: 2 } })
  })

  it(`is refused while the site is being crawled, and search goes on meanwhile ${errorRow('sources', 409)}`, async () => {
    const { app, site, pages, hold } = await setStage({ '/': page('Start', ['/a']), '/a': page('Alder') })
    const source = await crawl(app, { url: site.url })
    pages.set('/a', page('Ash', [], 'It grows by the river.'))
    const { arrived, release } = hold('/a')
    await app.call('POST', `${sources}/${source.id}/reindex`)
    await arrived
    expect(await app.call('POST', `${sources}/${source.id}/reindex`)).toMatchObject({
      status: 409,
      body: { error: { code: 'CONFLICT' } },
    })
    expect(await get(app, source)).toMatchObject({ status: 'crawling', chunks: 2, config: { maxPages: 50 } })
    expect(await search(app, 'Alder')).not.toEqual([])
    release()
    await crawled(app, source.id)
    expect((await search(app, 'river'))[0]).toContain('Ash')
    expect((await search(app, 'Alder')).filter(content => content.includes('Alder'))).toEqual([])
  })

  it('says what to wait for where its passages are being embedded by another model', async () => {
    const { app, site } = await setStage({ '/': page('Start') })
    const { id } = await crawl(app, { url: site.url })
    await app.service.infrastructure.agentDatabases.use('default', ({ db }) =>
      db.updateTable('sources').set({ status: 'updating' }).where('id', '=', id).execute(),
    )
    expect(await app.call('POST', `${sources}/${id}/reindex`)).toMatchObject({
      status: 409,
      body: { error: { message: expect.stringContaining('embedded by another model') } },
    })
  })

  it('takes nothing out when its time was over before it had seen the whole site', async () => {
    const clock = manualClock()
    const first = { '/': page('Start', ['/a', '/b']), '/a': page('Alder'), '/b': page('Birch') }
    const { app, site, pages, hold } = await setStage(first, { clock })
    const source = await crawl(app, { url: site.url, maxPages: 10 })
    pages.set('/', page('Start', ['/a', '/new', '/newer']))
    const { arrived, release } = hold('/a')
    await app.call('POST', `${sources}/${source.id}/reindex`)
    await arrived
    clock.advance(2 * 60 * 60_000)
    release()
    const again = await crawled(app, source.id)
    expect(again).toMatchObject({ status: 'ready', chunks: 3, config: { pageCount: 3 } })
    expect(again.config.failedPages).toEqual([
      { url: `${site.url}/`, reason: expect.stringContaining('The rest of the site was not visited') },
    ])
  })

  it('is what a website has instead of a refresh', async () => {
    const { app, site } = await setStage({ '/': page('Start') })
    const source = await crawl(app, { url: site.url })
    expect(await app.call('POST', `${sources}/${source.id}/refresh`)).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining('reindex') } },
    })
  })
})

describe('a crawl that is under way', () => {
  it('tells how far it has come, and what it could not read', async () => {
    const { app, site, hold } = await setStage({
      '/': page('Start', ['/dead', '/a', '/b']),
      '/a': page('Alder'),
      '/b': page('Birch'),
    })
    const { arrived, release } = hold('/b')
    const { body } = await startCrawl(app, { url: site.url })
    await arrived
    // The pages before it are settled one after the other; their last step is what is waited for.
    await expect
      .poll(async () => (await get(app, body)).config)
      .toMatchObject({
        pageCount: 2,
        failedPages: [{ url: `${site.url}/dead`, reason: 'It answered with status 404.' }],
      })
    const { status, progress } = await get(app, body)
    expect(status).toBe('crawling')
    expect(progress).toBeGreaterThan(0)
    expect(progress).toBeLessThan(1)
    const list = (await app.call<{ sources: CrawledSource[] }>('GET', `${sources}?status=crawling`)).body
    expect(list.sources).toMatchObject([{ config: { pageCount: 2 } }])
    release()
    expect(await crawled(app, body.id)).toMatchObject({ status: 'ready', progress: 1 })
  })

  it('never tells that it is less far than it was, whatever comes to light', async () => {
    const leaves = Array.from({ length: 9 }, (_, at) => `/leaf${at}`)
    const { app, site, hold } = await setStage({
      '/': page('Start', ['/a']),
      '/a': page('Alder', leaves),
      ...Object.fromEntries(leaves.map(path => [path, page(path)])),
    })
    const { arrived, release } = hold('/leaf0')
    const { body } = await startCrawl(app, { url: site.url })
    await arrived
    expect(await get(app, body)).toMatchObject({ progress: 0.5, config: { pageCount: 2 } })
    release()
    expect(await crawled(app, body.id)).toMatchObject({ status: 'ready', config: { pageCount: 11 } })
  })

  it('ends at once when the source is deleted, and leaves nothing', async () => {
    const { app, site, hold } = await setStage({ '/': page('Start', ['/a']), '/a': page('Alder') })
    const { arrived } = hold('/a')
    const { body } = await startCrawl(app, { url: site.url })
    await arrived
    expect((await app.call('DELETE', `${sources}/${body.id}`)).status).toBe(200)
    await app.service.infrastructure.runner.idle()
    expect((await app.call('GET', `${sources}/${body.id}`)).status).toBe(404)
    const left = await app.service.infrastructure.agentDatabases.use('default', async ({ db }) => [
      ...(await db.selectFrom('chunks').selectAll().execute()),
      ...(await db.selectFrom('chunk_generations').selectAll().execute()),
      ...(await db.selectFrom('crawl_pages').selectAll().execute()),
      ...(await db.selectFrom('crawl_queue').selectAll().execute()),
    ])
    expect(left).toEqual([])
  })

  it('is gone on with after the process was stopped, without reading a page twice', async () => {
    const { app, site, hold } = await setStage({
      '/': page('Start', ['/a', '/b']),
      '/a': page('Alder'),
      '/b': page('Birch'),
    })
    const { arrived, release } = hold('/b')
    const { body } = await startCrawl(app, { url: site.url })
    await arrived
    await expect.poll(async () => (await get(app, body)).config.pageCount).toBe(2)
    const before = await chunksOf(app)
    await app.service.infrastructure.runner.stop(10_000)
    release()
    await app.service.infrastructure.runner.start()
    expect(await crawled(app, body.id)).toMatchObject({ status: 'ready', config: { pageCount: 3 } })
    expect(asked(site).filter(path => path !== '/b')).toEqual(['/', '/a'])
    expect((await chunksOf(app)).filter(chunk => before.includes(chunk))).toEqual(before)
  })

  it('lets others go first now and then, and is the same crawl', async () => {
    const { app, site } = await setStage({
      '/': page('Start', ['/a', '/b']),
      '/a': page('Alder', ['/c']),
      '/b': page('Birch'),
      '/c': page('Cedar'),
    })
    const { job } = changeCrawls(app, undefined, 0)
    let turns = 0
    app.service.infrastructure.handlers.set(crawlJobName, {
      ...job,
      run(context) {
        turns += 1
        return job.run(context)
      },
    })
    const { body } = await startCrawl(app, { url: site.url })
    await expect.poll(async () => (await get(app, body)).status).toBe('ready')
    expect(turns).toBeGreaterThanOrEqual(3)
    expect(asked(site)).toEqual(['/', '/a', '/b', '/c'])
    expect((await get(app, body)).config.pageCount).toBe(4)
  })
})
