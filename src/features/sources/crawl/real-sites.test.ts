import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildApp, type TestApp } from '#test/support/build-app.ts'
import { type CrawledSource, crawl, crawlAgain, forCrawls, pathsOf } from '#test/support/crawl.ts'
import { isFullEndurance } from '#test/support/endurance.ts'
import { folderSite } from '#test/support/fixture-site.ts'
import { type Site, startSite } from '#test/support/site-server.ts'

interface Start {
  start: string
  new_at_depth: Record<string, string[]>
  first_50_in_bfs_order: string[]
  dead_links: Record<string, number>
  asset_links: Record<string, number>
}

const fixtures = process.env.REAL_FIXTURES ?? ''

function startsOf(name: string): Start[] {
  if (fixtures === '') return []
  const text = readFileSync(join(fixtures, 'sites', `${name}.expected.json`), 'utf8')
  return (JSON.parse(text) as { starts: Start[] }).starts
}

/** Pages within a depth, in the order in which they are found. */
function within({ new_at_depth }: Start, depth: number): string[] {
  return Array.from({ length: depth + 1 }, (_, level) => new_at_depth[level] ?? []).flat()
}

const cases = ['libxslt', 'libffi'].flatMap(name => startsOf(name).map(start => ({ name, start })))

let app: TestApp
const sites = new Map<string, Site>()

beforeAll(async () => {
  if (fixtures === '') return
  app = await buildApp({ environment: { ...forCrawls, CRAWL_MAX_PAGES: '200' } })
  for (const name of ['libxslt', 'libffi'])
    sites.set(name, await startSite(folderSite(join(fixtures, 'sites', name))))
})

afterAll(async () => {
  for (const site of sites.values()) await site[Symbol.asyncDispose]()
  await app?.close()
})

const urlOf = (name: string, path: string) => `${sites.get(name)?.url}${path}`

async function crawlSite(name: string, body: Record<string, unknown>): Promise<CrawledSource> {
  const source = await crawl(app, { name, ...body })
  expect(source).toMatchObject({ status: 'ready' })
  return source
}

// Needs REAL_FIXTURES, the folder of real documents and sites; skipped without it.
describe.skipIf(fixtures === '')('real websites', { timeout: 300_000 }, () => {
  describe.each(cases)('$name from $start.start', ({ name, start }) => {
    test.each(isFullEndurance || start === cases[0]?.start ? [1, 2, 3] : [3])(
      'to depth %i have exactly the pages that two other crawlers found',
      async maxDepth => {
        const source = await crawlSite(name, { url: urlOf(name, start.start), maxDepth, maxPages: 200 })
        expect(pathsOf(source)).toEqual(within(start, maxDepth).toSorted())
      },
    )
  })

  test.each([1, 7, 26, 50])('to %i pages have the first ones, breadth first', async maxPages => {
    const [start] = startsOf('libxslt')
    const source = await crawlSite('libxslt', { url: urlOf('libxslt', '/index.html'), maxPages })
    expect(pathsOf(source)).toEqual(start?.first_50_in_bfs_order.slice(0, maxPages).toSorted())
    expect(source.config.pageCount).toBe(maxPages)
  })

  test('tell of dead links and of files', async () => {
    const [start] = startsOf('libxslt')
    const source = await crawlSite('libxslt', {
      url: urlOf('libxslt', '/index.html'),
      maxPages: 200,
      maxDepth: 5,
    })
    const failed = (source.config.failedPages ?? []).map(({ url }) => new URL(url).pathname)
    const expected = [...Object.keys(start?.dead_links ?? {}), ...Object.keys(start?.asset_links ?? {})]
    expect(failed.toSorted()).toEqual(expected.toSorted())
    const again = await crawlAgain(app, source.id)
    expect(again.config).toMatchObject({ pageCount: 69, changedPages: 0, unchangedPages: 69 })
    expect(again.chunks).toBe(source.chunks)
  })

  test('that have changed are read anew, and nothing else', async () => {
    const [changed, gone] = [['/Introduction.html', '/The-Closure-API.html'], '/Memory-Usage.html']
    const folder = folderSite(join(fixtures, 'sites', 'libffi'))
    let isLater = false
    await using site = await startSite(async (request, response) => {
      const answer = await folder(request, response)
      if (!isLater || answer === undefined || answer === null || typeof answer === 'string') return answer
      if (request.path === gone) return undefined
      if (!changed.includes(request.path)) return answer
      return { ...answer, body: String(answer.body).replaceAll('</p>', ', as of now.</p>') }
    })
    const source = await crawlSite('libffi', { url: `${site.url}/index.html`, maxDepth: 5 })
    isLater = true
    const again = await crawlAgain(app, source.id)
    const kept = pathsOf(source).filter(path => path !== gone)
    expect(pathsOf(again)).toEqual(kept)
    const [before = {}, after = {}] = [source.config.pageHashes, again.config.pageHashes]
    const differing = Object.keys(after).filter(url => after[url] !== before[url])
    expect(differing.map(url => new URL(url).pathname)).toEqual(changed)
    expect(again.config).toMatchObject({ changedPages: 2, unchangedPages: kept.length - 2 })
  })
})
