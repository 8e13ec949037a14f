import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { CrawledSource } from '../support/crawl.ts'
import { forCrawls, pathsOf, startCrawl } from '../support/crawl.ts'
import { crashRounds, seededRandom } from '../support/endurance.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { startServerProcess } from '../support/server-process.ts'
import { page, startSite } from '../support/site-server.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const sources = '/api/agents/default/sources'
/** The service promises that nothing stays in work for longer than this after a crash, in milliseconds. */
const recoveryLimit = 60_000
const pages = 40

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

describe('kill -9 while a website is crawled', () => {
  it(`goes on where it was: no page is lost, none is there twice (${crashRounds} times)`, async () => {
    const site = await startSite(async ({ path }) => {
      const at = Number(/^\/(\d+)$/.exec(path)?.[1] ?? Number.NaN)
      if (!(at < pages)) return undefined
      await delay(30)
      return page(
        `Page ${at}`,
        [2 * at + 1, 2 * at + 2].map(next => `/${next}`),
        wordOf(at),
      )
    })
    onTestFinished(() => site[Symbol.asyncDispose]())
    const dataDirectory = temporaryDirectory()
    const random = seededRandom(20261121)
    const options = { dataDirectory, environment: forCrawls }
    const expected = Array.from({ length: pages }, (_, at) => `/${at}`).toSorted()

    for (let round = 1; round <= crashRounds; round += 1) {
      site.requests.length = 0
      let server = await startServerProcess(options)
      const crawl = { url: `${site.url}/0`, maxDepth: 5, includePatterns: ['/*'] }
      const { body } = await startCrawl(server, crawl)
      const crashes = 2
      for (let crash = 1; crash <= crashes; crash += 1) {
        await delay(300 + random() * 700)
        await server.kill()
        server = await startServerProcess(options)
      }
      const source = await untilCrawled(server, body.id)
      expect(source).toMatchObject({ status: 'ready', chunks: pages })
      expect(pathsOf(source)).toEqual(expected)
      // Only those that were under way when the process died are asked for once more.
      const asked = site.requests.filter(({ path }) => expected.includes(path)).length
      expect(asked).toBeLessThanOrEqual(pages + crashes * 5)
      for (const at of [0, 7, pages - 1]) {
        const found = await server.call<{ results: { content: string }[] }>(
          'GET',
          `${sources}/search?query=${wordOf(at)}&source_id=${body.id}&limit=50`,
        )
        const holding = found.body.results.filter(({ content }) => content.includes(wordOf(at)))
        expect(holding, `page ${at}`).toHaveLength(1)
      }
      await server.kill()
    }
  })
})
