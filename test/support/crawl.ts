import type { CrawlConfig, Source } from '#features/sources/sources.schema.ts'
import type { Answer, TestApp } from './build-app.ts'

const sources = '/api/agents/default/sources'

export type CrawledSource = Source & { config: CrawlConfig }

export const forCrawls = { OUTBOUND_ALLOW: '127.0.0.1' }

export function startCrawl(
  app: Pick<TestApp, 'call'>,
  body: Record<string, unknown>,
): Promise<Answer<CrawledSource>> {
  return app.call<CrawledSource>('POST', `${sources}/crawl`, { body: { name: 'A website', ...body } })
}

export async function crawled(app: TestApp, id: string): Promise<CrawledSource> {
  await app.service.infrastructure.runner.idle()
  return (await app.call<CrawledSource>('GET', `${sources}/${id}`)).body
}

/** Crawls and waits for the end. */
export async function crawl(app: TestApp, body: Record<string, unknown>): Promise<CrawledSource> {
  const answer = await startCrawl(app, body)
  if (answer.status !== 201)
    throw new Error(`the crawl was answered with ${answer.status}: ${JSON.stringify(answer.body)}`)
  return await crawled(app, answer.body.id)
}

export async function crawlAgain(app: TestApp, id: string): Promise<CrawledSource> {
  const { status, body } = await app.call('POST', `${sources}/${id}/reindex`)
  if (status !== 200) throw new Error(`the reindex was answered with ${status}: ${JSON.stringify(body)}`)
  return await crawled(app, id)
}

/** Paths of the pages that a source has, in alphabetical order. */
export function pathsOf({ config }: CrawledSource): string[] {
  return Object.keys(config.pageHashes ?? {})
    .map(url => new URL(url).pathname + new URL(url).search)
    .toSorted()
}
