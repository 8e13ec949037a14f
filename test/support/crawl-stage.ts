/** A website and the service that crawls it, for tests of what becomes of a crawl when either changes. */
import { onTestFinished } from 'vitest'
import type { SearchResult } from '#features/knowledge/knowledge.schema.ts'
import type { Clock } from '#platform/clock.ts'
import { type TestApp, testApp } from './build-app.ts'
import { type CrawledSource, forCrawls } from './crawl.ts'
import { type Site, type SiteAnswer, type SiteRequest, startSite } from './site-server.ts'

const sources = '/api/agents/default/sources'

/** A website whose pages change under the crawler. */
export async function setStage(
  first: Record<string, SiteAnswer | string>,
  options: { clock?: Clock; environment?: Record<string, string> } = {},
) {
  const pages = new Map(Object.entries(first))
  /** Answers for pages that are held back until it is called. */
  const held = new Map<string, PromiseWithResolvers<void>>()
  const arrivals = new Map<string, PromiseWithResolvers<void>>()
  const app = await testApp({ environment: forCrawls, ...options })
  const site = await startSite(async request => {
    arrivals.get(request.path)?.resolve()
    await held.get(request.path)?.promise
    return answerOf(request, pages.get(request.path))
  })
  onTestFinished(() => site[Symbol.asyncDispose]())
  /** Holds a page back; gives what waits until it is asked for, and what lets it go. */
  const hold = (path: string) => {
    const [gate, arrival] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    held.set(path, gate)
    arrivals.set(path, arrival)
    return { arrived: arrival.promise, release: gate.resolve }
  }
  return { app, site, pages, hold }
}

/** With an ETag of its own, to which it is true. */
function answerOf({ headers }: SiteRequest, given: SiteAnswer | string | undefined): SiteAnswer | undefined {
  if (given === undefined || (typeof given !== 'string' && given.status !== undefined)) return given
  const answer = typeof given === 'string' ? { body: given } : given
  const etag = `"${String(answer.body).length}-${Buffer.from(String(answer.body)).reduce((sum, byte) => (sum * 31 + byte) % 1e9, 7)}"`
  if (headers['if-none-match'] === etag) return { status: 304 }
  return { ...answer, headers: { etag, ...answer.headers } }
}

export const chunksOf = (app: TestApp) =>
  app.service.infrastructure.agentDatabases.use('default', async ({ db }) =>
    (
      await db
        .selectFrom('chunks')
        .innerJoin('crawl_pages', join =>
          join
            .onRef('crawl_pages.source_id', '=', 'chunks.source_id')
            .onRef('crawl_pages.document', '=', 'chunks.document'),
        )
        .select(['chunks.id', 'url'])
        .execute()
    ).map(({ id, url }) => `${new URL(url).pathname} ${id}`),
  )

export const search = async (app: TestApp, query: string) =>
  (await app.call<{ results: SearchResult[] }>('GET', `${sources}/search?query=${query}`)).body.results.map(
    ({ content }) => content,
  )

export const get = async (app: TestApp, { id }: { id: string }) =>
  (await app.call<CrawledSource>('GET', `${sources}/${id}`)).body

export const asked = ({ requests }: Site) => {
  const paths = requests.splice(0).map(({ path, headers }) => `${headers['if-none-match'] ? '?' : ''}${path}`)
  return paths.filter(path => !path.endsWith('/robots.txt')).toSorted()
}
