import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { limitRow, row } from '#test/spec/row.ts'
import type { TestApp } from '#test/support/build-app.ts'
import { buildApp } from '#test/support/build-app.ts'
import { crawl, crawled, forCrawls, pathsOf, startCrawl } from '#test/support/crawl.ts'
import type { AnswerSite, Site } from '#test/support/site-server.ts'
import { page, sitePages, startSite } from '#test/support/site-server.ts'
import type { SearchResult } from './sources.schema.ts'

const sources = '/api/agents/default/sources'

let app: TestApp

beforeAll(async () => {
  app = await buildApp({ environment: forCrawls })
})

afterAll(() => app.close())

async function siteOf(answer: AnswerSite): Promise<Site> {
  const site = await startSite(answer)
  onTestFinished(() => site[Symbol.asyncDispose]())
  return site
}

const search = async (query: string) =>
  (await app.call<{ results: SearchResult[] }>('GET', `${sources}/search?${query}`)).body.results

describe(`crawling a website ${row('POST /api/agents/{id}/sources/crawl')}`, () => {
  it('answers at once, and the pages are searchable when it has ended', async () => {
    const site = await siteOf(
      sitePages({ '/': page('Harbour', ['/tides#today']), '/tides': page('Tides', ['/'], 'Zweidorf.') }),
    )
    const answer = await startCrawl(app, { url: site.url, name: 'Harbour' })
    expect(answer.status).toBe(201)
    expect(answer.body).toEqual({
      id: expect.any(String),
      type: 'crawl',
      name: 'Harbour',
      status: 'crawling',
      config: {
        url: `${site.url}/`,
        maxPages: 50,
        maxDepth: 3,
        includePatterns: [],
        excludePatterns: [],
        useSitemap: false,
        render: 'never',
        startedAt: expect.any(String),
      },
      created_at: expect.any(String),
    })
    const source = await crawled(app, answer.body.id)
    expect(source).toMatchObject({
      status: 'ready',
      progress: 1,
      chunks: 2,
      config: {
        pageCount: 2,
        lastCrawledAt: expect.any(String),
        pageHashes: {
          [`${site.url}/`]: expect.stringMatching(/^[0-9a-f]{64}$/),
          [`${site.url}/tides`]: expect.stringMatching(/^[0-9a-f]{64}$/),
        },
        failedPages: [],
      },
    })
    const [best] = await search(`query=Zweidorf&source_id=${source.id}`)
    expect(best).toMatchObject({
      source_id: source.id,
      metadata: { source_name: 'Harbour', page: null, section: 'Tides', url: `${site.url}/tides` },
    })
    expect(site.requests[0]?.headers['user-agent']).toMatch(/^agentstead /)
  })
})
