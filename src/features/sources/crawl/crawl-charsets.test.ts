import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SearchResult } from '#features/knowledge/knowledge.schema.ts'
import { buildApp, type TestApp } from '#test/support/build-app.ts'
import { crawl, forCrawls } from '#test/support/crawl.ts'
import { type Site, type SiteAnswer, sitePages, startSite } from '#test/support/site-server.ts'

/** Words in the bytes of their character set, as `iconv` writes them. */
const words = {
  gb18030: { text: '港口的灯塔', bytes: 'b8dbbfdab5c4b5c6cbfe' },
  shift_jis: { text: '灯台の見張り', bytes: '939491e482cc8ca992a382e8' },
  'windows-1252': { text: 'Küstenwächter', bytes: '4bfc7374656e77e46368746572' },
  'windows-1251': { text: 'маяк', bytes: 'ece0ffea' },
} as const
type Charset = keyof typeof words
const charsets = Object.keys(words) as Charset[]

const html = (head: string, body: Uint8Array) =>
  Buffer.concat([
    Buffer.from(`<html><head>${head}<title>x</title></head><body><p>`),
    body,
    Buffer.from('</p></body></html>'),
  ])

/** A page for each way to tell its character set. */
function pagesOf(charset: Charset): Record<string, SiteAnswer> {
  const body = Buffer.from(words[charset].bytes, 'hex')
  return {
    [`/${charset}/header`]: {
      headers: { 'content-type': `text/html; charset=${charset}` },
      body: html('', body),
    },
    [`/${charset}/second-header`]: {
      headers: { 'content-type': `text/html, text/html; charset=${charset}` },
      body: html('', body),
    },
    [`/${charset}/first-header`]: {
      headers: { 'content-type': `text/html; charset=${charset}, text/html` },
      body: html('', body),
    },
    [`/${charset}/meta`]: { body: html(`<meta charset="${charset}">`, body) },
    [`/${charset}/equivalent`]: {
      body: html(`<meta http-equiv="Content-Type" content="text/html; charset=${charset}">`, body),
    },
  }
}

/** The same with a byte order mark and, as it happens, a header that tells otherwise. */
const marked = (charset: Charset): SiteAnswer => ({
  headers: { 'content-type': `text/html; charset=${charset}` },
  body: Buffer.from(`\ufeff${html('', Buffer.from(words[charset].text)).toString()}`),
})
const wide = (charset: Charset): SiteAnswer => ({
  headers: { 'content-type': 'text/html' },
  body: Buffer.from(`\ufeff${html('', Buffer.from(words[charset].text)).toString()}`, 'utf16le'),
})

let app: TestApp
let site: Site

beforeAll(async () => {
  const pages = Object.assign({}, ...charsets.map(pagesOf)) as Record<string, SiteAnswer>
  for (const charset of charsets) {
    pages[`/${charset}/mark`] = marked(charset)
    pages[`/${charset}/wide`] = wide(charset)
  }
  app = await buildApp({ environment: forCrawls })
  site = await startSite(sitePages(pages))
})

afterAll(async () => {
  await app.close()
  await site[Symbol.asyncDispose]()
})

const ways = ['header', 'second-header', 'first-header', 'meta', 'equivalent', 'mark', 'wide']
const cases = charsets.flatMap(charset => ways.map(by => ({ charset, by })))

test.each(cases)('a page in $charset, told by its $by, is found by its words', async ({ charset, by }) => {
  const source = await crawl(app, { url: `${site.url}/${charset}/${by}` })
  expect(source.status).toBe('ready')
  const { text } = words[charset]
  const query = `query=${encodeURIComponent(text)}&source_id=${source.id}`
  const { body } = await app.call<{ results: SearchResult[] }>(
    'GET',
    `/api/agents/default/sources/search?${query}`,
  )
  expect(body.results.map(({ content }) => content)).toEqual([expect.stringContaining(text)])
})
