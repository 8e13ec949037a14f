/** Pages of a first crawl that are written together: what comes of it is the same as if each had come alone. */
import { describe, expect, it, onTestFinished } from 'vitest'
import type { TestApp } from '#test/support/build-app.ts'
import { crawl, crawlAgain, crawled, pathsOf, startCrawl } from '#test/support/crawl.ts'
import { changeCrawls } from '#test/support/crawl-job.ts'
import { chunksOf, search, setStage } from '#test/support/crawl-stage.ts'
import { page } from '#test/support/site-server.ts'
import type { CrawlThreads } from './crawl-threads.ts'

const sources = '/api/agents/default/sources'
const noIndex = (html: string) => html.replace('<title>', '<meta name="robots" content="noindex"><title>')
const canonical = (path: string, html: string) =>
  html.replace('<title>', `<link rel="canonical" href="${path}"><title>`)

/** Lets these pages end their visits in this order: all that were read before the last one are settled together with it. */
function readInOrder(threads: CrawlThreads, order: readonly string[]): Pick<CrawlThreads, 'readPage'> {
  const read = new Map(order.map(path => [path, Promise.withResolvers<void>()]))
  return {
    async readPage(raw, signal) {
      const { pathname } = new URL(raw.url)
      const result = await threads.readPage(raw, signal)
      const before = order[order.indexOf(pathname) - 1]
      if (before !== undefined) await read.get(before)?.promise
      // Whoever waits for it goes on when this visit has ended.
      setImmediate(() => read.get(pathname)?.resolve())
      return result
    },
  }
}

/** Numbers of pages that were written together. */
function recordWrites(threads: CrawlThreads, written: number[]): Pick<CrawlThreads, 'addPages'> {
  return {
    addPages(pages, signal) {
      written.push(pages.pages.length)
      return threads.addPages(pages, signal)
    },
  }
}

const rowsOf = (app: TestApp) =>
  app.service.infrastructure.agentDatabases.use('default', async ({ db }) => ({
    queue: (
      await db.selectFrom('crawl_queue').select(['url', 'depth', 'state']).orderBy('position').execute()
    ).map(({ url, depth, state }) => `${new URL(url).pathname} ${depth} ${state}`),
    generations: await db.selectFrom('chunk_generations').select('document').execute(),
    chunks: await db.selectFrom('chunks').select('id').execute(),
    pages: await db.selectFrom('crawl_pages').select('document').execute(),
  }))

describe('pages that end at the same time', () => {
  const orders = [
    ['one by one', ['/a', '/b', '/c', '/d']],
    ['together', ['/d', '/c', '/b', '/a']],
    ['two and two', ['/b', '/a', '/d', '/c']],
  ] as const

  it.each(orders)('lead on in the order and to the depth of the queue: %s', async (_, order) => {
    const { app, site, hold } = await setStage({
      '/': page('Start', ['/a', '/b', '/c', '/d']),
      '/a': page('Alder', ['/e', '/d', '/f']),
      '/b': page('Birch', ['/f', '/g', '/a']),
      '/c': noIndex(page('Cedar', ['/h', '/e'])),
      '/d': page('Dogwood', ['/i', '/gone']),
      ...Object.fromEntries(['/e', '/f', '/g', '/h', '/i'].map(path => [path, page(path, [`${path}x`])])),
    })
    changeCrawls(app, threads => readInOrder(threads, order))
    const last = hold('/gone')
    const { body } = await startCrawl(app, { url: site.url, maxDepth: 2 })
    await last.arrived
    const queue = async () => (await rowsOf(app)).queue
    await expect
      .poll(queue)
      .toEqual([
        '/ 0 changed',
        '/a 1 changed',
        '/b 1 changed',
        '/c 1 skipped',
        '/d 1 changed',
        '/e 2 changed',
        '/f 2 changed',
        '/g 2 changed',
        '/h 2 changed',
        '/i 2 changed',
        '/gone 2 waiting',
      ])
    last.release()
    const source = await crawled(app, body.id)
    expect(pathsOf(source)).toEqual(['/', '/a', '/b', '/d', '/e', '/f', '/g', '/h', '/i'])
  })

  it('lead no deeper than wanted where they are of different depth', async () => {
    const { app, site } = await setStage({
      '/': page('Start', ['/a', '/b']),
      '/a': page('Alder', ['/c']),
      '/b': page('Birch', ['/d']),
      '/c': page('Cedar', ['/e']),
      '/d': page('Dogwood'),
      '/e': page('Elm', ['/f']),
      '/f': page('Fir'),
    })
    const written: number[] = []
    changeCrawls(app, threads => ({
      ...readInOrder(threads, ['/a', '/c', '/b']),
      ...recordWrites(threads, written),
    }))
    const source = await crawl(app, { url: site.url, maxDepth: 3 })
    expect(pathsOf(source)).toEqual(['/', '/a', '/b', '/c', '/d', '/e'])
    expect(written.slice(0, 3)).toEqual([1, 1, 2])
    expect(site.asked()).not.toContain('/f')
  })

  it.each(orders)('leave room for the links of each, whatever robots.txt bars: %s', async (_, order) => {
    const barred = Array.from({ length: 800 }, (__, at) => `/private/${at}`)
    const { app, site } = await setStage({
      '/robots.txt': { body: 'User-agent: *\nDisallow: /private/' },
      '/': page('Start', ['/a', '/b', '/c', '/d']),
      '/a': page('Alder', barred),
      '/b': page('Birch', ['/e']),
      '/c': page('Cedar', ['/f']),
      '/d': page('Dogwood', ['/g']),
      ...Object.fromEntries(['/e', '/f', '/g'].map(path => [path, page(path)])),
    })
    changeCrawls(app, threads => readInOrder(threads, order))
    const source = await crawl(app, { url: site.url, maxPages: 50 })
    expect(pathsOf(source)).toEqual(['/', '/a', '/b', '/c', '/d', '/e', '/f', '/g'])
    expect(source.config.failedPages).toHaveLength(100)
  })

  it.each(orders)('are each there once, by whatever address: %s', async (_, order) => {
    const { app, site } = await setStage({
      '/': page('Start', ['/a', '/b', '/c', '/d']),
      '/a': canonical('/c', page('Cedar', ['/e'])),
      '/b': { status: 301, headers: { location: '/c' } },
      '/c': page('Cedar', ['/e']),
      '/d': canonical('/a', page('Alder', ['/f'])),
      '/e': page('Elm'),
      '/f': page('Fir'),
    })
    changeCrawls(app, threads =>
      readInOrder(
        threads,
        order.filter(path => path !== '/b'),
      ),
    )
    const source = await crawl(app, { url: site.url })
    expect(pathsOf(source)).toEqual(['/', '/c', '/d', '/e', '/f'])
    expect(source).toMatchObject({ chunks: 5, config: { pageCount: 5, failedPages: [] } })
    const visited = new Set(site.asked())
    expect([...visited].toSorted()).toEqual(['/', '/a', '/b', '/c', '/d', '/e', '/f'])
    const { generations, chunks, pages } = await rowsOf(app)
    expect(chunks).toHaveLength(5)
    expect(pages).toHaveLength(5)
    expect(generations).toHaveLength(6)
  })

  it.each([3, 4, 5])('are as many as wanted: %i', async maxPages => {
    const paths = ['/a', '/b', '/c', '/d', '/e', '/f', '/g', '/h']
    const { app, site } = await setStage({
      '/': page('Start', paths),
      ...Object.fromEntries(paths.map(path => [path, page(path)])),
    })
    const written: number[] = []
    changeCrawls(app, threads => ({
      ...readInOrder(threads, paths.slice(0, maxPages - 1).toReversed()),
      ...recordWrites(threads, written),
    }))
    const source = await crawl(app, { url: site.url, maxPages })
    expect(pathsOf(source)).toEqual(['/', ...paths.slice(0, maxPages - 1)])
    expect(written).toEqual([1, maxPages - 1])
    expect(site.asked().toSorted()).toEqual(['/', ...paths.slice(0, maxPages - 1)])
  })

  const sentence = 'The keeper of the harbour writes down the tide. '
  it.each([
    ['chunks', [], Array.from({ length: 200 }, (_, at) => `${at} ${sentence.repeat(18)}</p><p>`).join('')],
    ['links', Array.from({ length: 2_000 }, (_, at) => `/private/${at}`), ''],
  ])('bring no more %s together than one page may', async (_, links, text) => {
    const paths = ['/a', '/b', '/c', '/d']
    const { app, site } = await setStage({
      '/robots.txt': { body: 'User-agent: *\nDisallow: /private/' },
      '/': page('Start', paths),
      ...Object.fromEntries(paths.map(path => [path, page(path, links, text)])),
    })
    const written: number[] = []
    changeCrawls(app, threads => ({
      ...readInOrder(threads, paths.toReversed()),
      ...recordWrites(threads, written),
    }))
    const source = await crawl(app, { url: site.url })
    expect(pathsOf(source)).toEqual(['/', ...paths])
    expect(written).toEqual([1, 2, 2])
  })
})

describe('a write of several pages', () => {
  const setTree = () =>
    setStage({
      '/': page('Start', ['/a', '/b', '/c', '/d']),
      '/a': page('Alder'),
      '/b': page(
        'Birch',
        [],
        `${'The keeper of the harbour writes down the tide each evening. '.repeat(300)} Lighthouse.`,
      ),
      '/c': page('Cedar'),
      '/d': page('Dogwood'),
    })
  const order = ['/d', '/c', '/b', '/a']

  it('shows all chunks of each, unless another run has begun', async () => {
    const { app, site } = await setTree()
    const written: number[] = []
    const refused: unknown[] = []
    changeCrawls(app, threads => ({
      ...readInOrder(threads, order),
      async addPages(pages, signal) {
        const former = threads.addPages({ ...pages, attempt: 'a run before this one' }, signal)
        refused.push(await former.catch((error: Error) => error.message))
        written.push(pages.pages.length)
        return await threads.addPages(pages, signal)
      },
    }))
    const source = await crawl(app, { url: site.url })
    expect(written).toEqual([1, 4])
    expect(refused).toEqual(written.map(() => expect.stringContaining('Another attempt')))
    expect((await rowsOf(app)).chunks).toHaveLength(source.chunks ?? 0)
    // Of one source, since a search of all looks at no ranges while nothing is hidden.
    expect((await search(app, `Lighthouse&source_id=${source.id}`))[0]).toContain('Lighthouse')
  })

  it.each([
    ['after the last', 4],
    ['in the middle', 2],
    ['before the first', 0],
  ])('whose thread dies %s is done again, and leaves nothing twice', async (_, count) => {
    const { app, site } = await setTree()
    changeCrawls(app, threads => ({
      ...readInOrder(threads, order),
      async addPages(pages, signal) {
        if (pages.pages.length === 1) return await threads.addPages(pages, signal)
        if (count > 0) await threads.addPages({ ...pages, pages: pages.pages.slice(0, count) }, signal)
        return undefined
      },
    }))
    const source = await crawl(app, { url: site.url })
    expect(source).toMatchObject({ status: 'ready', config: { pageCount: 5, failedPages: [] } })
    const { chunks, generations } = await rowsOf(app)
    expect(chunks).toHaveLength(source.chunks ?? 0)
    expect(generations).toHaveLength(6)
    const before = await chunksOf(app)
    expect(before).toHaveLength(chunks.length)
    expect((await search(app, 'Cedar')).filter(content => content.includes('Cedar'))).toHaveLength(1)
    expect((await search(app, 'Lighthouse'))[0]).toContain('Lighthouse')
    const again = await crawlAgain(app, source.id)
    expect(again.config).toMatchObject({ changedPages: 0, unchangedPages: 5 })
    expect(await chunksOf(app)).toEqual(before)
  })

  it.each([4, 2])('whose process dies before they are written down is done again: %i pages', async count => {
    const { app, site, pages: served } = await setTree()
    const [written, over] = [Promise.withResolvers<void>(), new AbortController()]
    onTestFinished(() => over.abort())
    const { restore } = changeCrawls(app, threads => ({
      ...readInOrder(threads, order),
      async addPages(pages, signal) {
        if (pages.pages.length === 1) return await threads.addPages(pages, signal)
        await threads.addPages({ ...pages, pages: pages.pages.slice(0, count) }, signal)
        written.resolve()
        return await new Promise<never>((__, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason), { once: true })
        })
      },
    }))
    const { body } = await startCrawl(app, { url: site.url })
    await written.promise
    const { runner } = app.service.infrastructure
    await runner.stop(10_000)
    expect((await rowsOf(app)).generations).toHaveLength(2 + count)
    restore()
    served.set('/a', { status: 404 })
    served.set('/c', noIndex(page('Cedar')))
    await runner.start()
    const source = await crawled(app, body.id)
    expect(source).toMatchObject({ status: 'ready', config: { pageCount: 3 } })
    expect(pathsOf(source)).toEqual(['/', '/b', '/d'])
    const { chunks, generations } = await rowsOf(app)
    expect(chunks).toHaveLength(source.chunks ?? 0)
    expect(generations).toHaveLength(4)
    expect((await search(app, 'Alder')).filter(content => content.includes('Alder'))).toEqual([])
  })

  it('leaves nothing of a source that is deleted meanwhile', async () => {
    const { app, site } = await setTree()
    const deleted = Promise.withResolvers<number>()
    changeCrawls(app, threads => ({
      ...readInOrder(threads, order),
      async addPages(pages, signal) {
        const written = threads.addPages(pages, signal)
        if (pages.pages.length > 1)
          app.call('DELETE', `${sources}/${id}`).then(({ status }) => deleted.resolve(status), deleted.reject)
        return await written
      },
    }))
    const { body } = await startCrawl(app, { url: site.url })
    const { id } = body
    expect(await deleted.promise).toBe(200)
    await app.service.infrastructure.runner.idle()
    expect(await rowsOf(app)).toEqual({ queue: [], generations: [], chunks: [], pages: [] })
  })
})
