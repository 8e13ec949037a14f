/** A website that is crawled by several processes on one database. */
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { crawlLimits } from '#features/sources/crawl/crawl-limits.ts'
import { type CrawledSource, forCrawls, pathsOf, startCrawl } from '../support/crawl.ts'
import { type ReplicaSet, startReplicas } from '../support/replica-set.ts'
import { page, type Site, startSite } from '../support/site-server.ts'

const sources = '/api/agents/default/sources'
/** Milliseconds within which a replica's death is made good. */
const takeoverLimit = 60_000
const pages = 30
const paths = Array.from({ length: pages }, (_, at) => `/${at}`)

/** The one word by which this page, and no other, is found. */
const wordOf = (at: number) => `zyx${at}q`

let replicas: ReplicaSet
let site: Site
/** Of pages that are being asked for; `broken`, those whose asker has gone. */
let open: number
let most: number
let broken: number
/** Pages are answered once it has resolved. */
let gate: PromiseWithResolvers<void>
let held: PromiseWithResolvers<void>

beforeEach(async () => {
  ;[open, most, broken] = [0, 0, 0]
  gate = Promise.withResolvers()
  held = Promise.withResolvers()
  site = await startSite(async ({ path }, response) => {
    const at = Number(/^\/(\d+)$/.exec(path)?.[1] ?? Number.NaN)
    if (!(at < pages)) return undefined
    open += 1
    most = Math.max(most, open)
    response.on('close', () => {
      open -= 1
      if (!response.writableFinished) broken += 1
    })
    if (at >= 10) {
      held.resolve()
      await gate.promise
    }
    await delay(10)
    const links = [2 * at + 1, 2 * at + 2].filter(next => next < pages).map(next => `/${next}`)
    return page(`Page ${at}`, links, wordOf(at))
  })
  replicas = await startReplicas(2, { ...forCrawls, DEV_USER: 'dev@example.com', LEASE_SECONDS: '5' })
})

afterEach(async () => {
  gate.resolve()
  await replicas[Symbol.asyncDispose]()
  await site[Symbol.asyncDispose]()
})

async function begin(): Promise<string> {
  const { status, body } = await startCrawl(replicas.at(0), { url: `${site.url}/0`, maxDepth: 5 })
  expect(status).toBe(201)
  return body.id
}

async function untilCrawled(id: string): Promise<CrawledSource> {
  const begun = performance.now()
  while (performance.now() - begun < takeoverLimit) {
    const { body } = await replicas.any().call<CrawledSource>('GET', `${sources}/${id}`)
    if (body.status !== 'crawling') return body
    await delay(100)
  }
  throw new Error('the crawl has not ended within the promised time')
}

const asked = () => site.requests.map(({ path }) => path).filter(path => paths.includes(path))

async function expectAllOnce(source: CrawledSource): Promise<void> {
  expect(source).toMatchObject({ status: 'ready', chunks: pages, config: { pageCount: pages } })
  expect(pathsOf(source)).toEqual(paths.toSorted())
  for (const at of [0, 9, 17, pages - 1]) {
    const { body } = await replicas
      .any()
      .call<{ results: { content: string }[] }>(
        'GET',
        `${sources}/search?query=${wordOf(at)}&source_id=${source.id}&limit=50`,
      )
    const holding = body.results.filter(({ content }) => content.includes(wordOf(at)))
    expect(holding, `page ${at}`).toHaveLength(1)
  }
}

describe('a crawl on two replicas', () => {
  it('is run by one of them, which asks for each page once', async () => {
    gate.resolve()
    await expectAllOnce(await untilCrawled(await begin()))
    expect(asked().toSorted()).toEqual(paths.toSorted())
    expect(most).toBeLessThanOrEqual(4)
  })

  it('goes on on the other one when its replica is killed, and no page is there twice', async () => {
    const id = await begin()
    await held.promise
    // Whichever runs it: the one whose death breaks the requests that are under way.
    for (let at = 0; broken === 0 && at < 2; at += 1) {
      await replicas.at(at).kill()
      await replicas.at(at + 1).call('GET', `${sources}/${id}`)
      if (broken === 0) await replicas.replace(at)
    }
    expect(broken).toBeGreaterThan(0)
    const before = asked().length
    gate.resolve()
    const dead = [0, 1].find(
      at => replicas.at(at).process.exitCode !== null || replicas.at(at).process.killed,
    )
    await replicas.replace(dead ?? 0)
    await expectAllOnce(await untilCrawled(id))
    // Nothing that was settled before is asked for again.
    expect(asked().length - before).toBeLessThanOrEqual(pages - 10 + crawlLimits.visits)
  })

  it('ends on both when it is deleted on either, and leaves nothing', async () => {
    const id = await begin()
    await held.promise
    for (const at of [0, 1]) {
      const { status } = await replicas.at(at).call('DELETE', `${sources}/${id}`)
      expect(status).toBe(at === 0 ? 200 : 404)
    }
    const before = asked().length
    gate.resolve()
    const begun = performance.now()
    const left = async () => {
      // What is waiting can't outlive its source.
      const counts = ['chunks', 'crawl_pages', 'sources'].map(table => `(SELECT count(*) FROM ${table})`)
      const query = { query: `SELECT ${counts.join(' + ')} AS rows` }
      const { body } = await replicas
        .any()
        .call<unknown>('POST', '/api/agents/default/sql/execute', { body: query })
      return JSON.stringify(body)
    }
    while (!/"rows":\[\["?0/.test(await left())) {
      if (performance.now() - begun > takeoverLimit) throw new Error(`it has left ${await left()}`)
      await delay(100)
    }
    expect(asked().length - before).toBeLessThanOrEqual(4)
  })
})
