import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { crawlLimits } from '#features/sources/crawl/crawl-limits.ts'
import { type CrawledSource, forCrawls, pathsOf, startCrawl } from '../support/crawl.ts'
import { crashRounds, seededRandom } from '../support/endurance.ts'
import { type ServerProcess, startServerProcess } from '../support/server-process.ts'
import { page, startSite } from '../support/site-server.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const sources = '/api/agents/default/sources'
/** The service promises that nothing stays in work for longer than this after a crash, in milliseconds. */
const recoveryLimit = 60_000
const pages = 40
/** Requests after which the first process dies, and the second one: no fewer than that, and fewer than that. */
const crashesAfter = [
  [22, 26],
  [12, 15],
] as const

async function untilCrawled(server: ServerProcess, id: string): Promise<CrawledSource> {
  const begun = performance.now()
  while (performance.now() - begun < recoveryLimit) {
    const { body } = await server.call<CrawledSource>('GET', `${sources}/${id}`)
    if (body.status !== 'crawling') return body
    await delay(50)
  }
  throw new Error('the crawl has not ended within the promised time')
}

/** The one word by which this page, and no other, is found. */
const wordOf = (at: number) => `zyx${at}q`

/** A site of pages that lead to two others each, and change with its edition. */
async function startEditions() {
  const edition = { number: 1 }
  const site = await startSite(async ({ path }) => {
    const at = Number(/^\/(\d+)$/.exec(path)?.[1] ?? Number.NaN)
    if (!(at < pages)) return undefined
    await delay(30)
    const links = [2 * at + 1, 2 * at + 2].filter(next => next < pages).map(next => `/${next}`)
    const changed = edition.number > 1 && at % 2 === 1 ? ` Edition${edition.number}.` : ''
    return page(`Page ${at}`, links, `${wordOf(at)}${changed}`)
  })
  onTestFinished(() => site[Symbol.asyncDispose]())
  return { site, edition, start: { url: `${site.url}/0`, maxDepth: 5, includePatterns: ['/*'] } }
}

const expected = Array.from({ length: pages }, (_, at) => `/${at}`).toSorted()

/** Each of these words is found in one page. */
async function expectOnce(server: ServerProcess, id: string): Promise<void> {
  for (const at of [0, 7, pages - 1]) {
    const { body } = await server.call<{ results: { content: string }[] }>(
      'GET',
      `${sources}/search?query=${wordOf(at)}&source_id=${id}&limit=50`,
    )
    const holding = body.results.filter(({ content }) => content.includes(wordOf(at)))
    expect(holding, `page ${at}`).toHaveLength(1)
  }
}

describe('kill -9 while a website is crawled', () => {
  it(`goes on where it was: no page is lost, none is there twice (${crashRounds} times)`, async () => {
    const { site, start } = await startEditions()
    const dataDirectory = temporaryDirectory()
    const random = seededRandom(20261121)
    const options = { dataDirectory, environment: forCrawls }

    for (let round = 1; round <= crashRounds; round += 1) {
      site.requests.length = 0
      let server = await startServerProcess(options)
      const { body } = await startCrawl(server, start)
      const asked = () => site.requests.filter(({ path }) => expected.includes(path)).length
      // Late enough for beginning anew to show, and so early that there is something left for the next process.
      for (const [fewest, most] of crashesAfter) {
        const enough = asked() + fewest + Math.floor(random() * (most - fewest))
        await vi.waitUntil(() => asked() >= enough, { timeout: 60_000, interval: 5 })
        await server.kill()
        server = await startServerProcess(options)
      }
      const source = await untilCrawled(server, body.id)
      expect(source).toMatchObject({ status: 'ready', chunks: pages })
      expect(pathsOf(source)).toEqual(expected)
      // Only those that were under way when the process died are asked for once more, and as many that had ended but waited
      // for one before them.
      const lost = 2 * crawlLimits.visits
      expect(asked()).toBeLessThanOrEqual(pages + crashesAfter.length * lost)
      await expectOnce(server, body.id)
      await server.kill()
    }
  })

  it(`and when it is crawled again: what was found stays, and what changed is new once (${crashRounds} times)`, async () => {
    const { site, edition, start } = await startEditions()
    const dataDirectory = temporaryDirectory()
    const random = seededRandom(7)
    const options = { dataDirectory, environment: forCrawls }
    let server = await startServerProcess(options)
    const { body } = await startCrawl(server, start)
    await untilCrawled(server, body.id)
    for (let round = 1; round <= crashRounds; round += 1) {
      edition.number += 1
      site.requests.length = 0
      await server.call('POST', `${sources}/${body.id}/reindex`)
      await delay(200 + random() * 700)
      await server.kill()
      server = await startServerProcess(options)
      const source = await untilCrawled(server, body.id)
      expect(source).toMatchObject({
        status: 'ready',
        chunks: pages,
        config: { pageCount: pages, changedPages: pages / 2, unchangedPages: pages / 2, failedPages: [] },
      })
      expect(pathsOf(source)).toEqual(expected)
      await expectOnce(server, body.id)
      const found = await server.call<{ results: { content: string }[] }>(
        'GET',
        `${sources}/search?query=Edition${edition.number}&source_id=${body.id}&limit=50`,
      )
      const isNew = ({ content }: { content: string }) => content.includes(`Edition${edition.number}.`)
      expect(found.body.results.filter(isNew)).toHaveLength(pages / 2)
    }
    await server.kill()
  })
})

describe('SIGTERM while a website is crawled', () => {
  it('ends the process soon, and the next one goes on where it was', async () => {
    const { site, start } = await startEditions()
    const options = { dataDirectory: temporaryDirectory(), environment: forCrawls }
    const server = await startServerProcess(options)
    const { body } = await startCrawl(server, start)
    await expect.poll(() => site.asked().length, { timeout: 30_000 }).toBeGreaterThan(10)
    const begun = performance.now()
    expect(await server.stop()).toBe(0)
    expect(performance.now() - begun).toBeLessThan(10_000)
    const before = site.asked().length
    expect(before).toBeLessThan(pages)
    const next = await startServerProcess(options)
    onTestFinished(() => next[Symbol.asyncDispose]())
    const source = await untilCrawled(next, body.id)
    expect(source).toMatchObject({ status: 'ready', chunks: pages, config: { pageCount: pages } })
    expect(pathsOf(source)).toEqual(expected)
    // Only those that were under way are asked for once more.
    expect(site.asked().length).toBeLessThanOrEqual(pages + crawlLimits.visits)
    await expectOnce(next, body.id)
  })
})
