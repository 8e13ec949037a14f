/** What a crawl costs those who share a process with it. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { testApp } from '#test/support/build-app.ts'
import { crawl, forCrawls } from '#test/support/crawl.ts'
import { millisecondsOf, slowness } from '#test/support/processor-time.ts'
import { type AnswerSite, page, startSite } from '#test/support/site-server.ts'

async function siteOf(answer: AnswerSite) {
  const site = await startSite(answer)
  onTestFinished(() => site[Symbol.asyncDispose]())
  return site
}

const many = (count: number, one: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => one(at)).join('')
const sentence = 'The keeper of the harbour writes down the tide and the light each evening. '

const barred = 'User-agent: *\nDisallow: /dead/\n'

/** Sites by what is hard to bear about them. */
const heavy: Record<string, (base: string) => Record<string, string>> = {
  'a page of much text': () => ({
    '/': `<html><body><main>${many(4_000, at => `<p>${at} ${sentence}</p>`)}</main></body></html>`,
  }),
  'a page of many links': () => ({
    '/': page(
      'Links',
      Array.from({ length: 3_000 }, (_, at) => `/dead/${at}`),
    ),
    '/robots.txt': barred,
  }),
  'a page whose links unfold': () => ({
    '/': `<html><head><base href="/dead/${'p/'.repeat(900)}"></head><body><p>Far</p>${many(2_000, at => `<a href="${at}"></a>`)}</body></html>`,
    '/robots.txt': barred,
  }),
  'a sitemap of many pages': base => ({
    '/': page('Start'),
    '/robots.txt': barred,
    '/sitemap.xml': `<urlset>${many(25_000, at => `<loc>http://elsewhere.test/${at}</loc><loc>${base}/dead/${at}</loc>`)}</urlset>`,
  }),
  'a robots.txt of many sitemaps': () => ({
    '/': page('Start'),
    '/robots.txt': many(20_000, at => `Sitemap: /map${at}.xml\n`),
  }),
}

describe('the event loop', () => {
  it.each(Object.keys(heavy))('is not held up by %s', async name => {
    const app = await testApp({ environment: { ...forCrawls, CRAWL_MAX_PAGES: '2000' } })
    let pages = new Map([['/first', Buffer.from(page('First'))]])
    const site = await siteOf(({ path }) => {
      const body = pages.get(path)
      return body && { body }
    })
    const start = { maxPages: 2_000, maxDepth: 1, useSitemap: true }
    await crawl(app, { ...start, url: `${site.url}/first` })
    // Written out before anything is measured: the site runs in this thread, too.
    pages = new Map(
      Object.entries(heavy[name]?.(site.url) ?? {}).map(([path, text]) => [path, Buffer.from(text)]),
    )
    // A turn that another program made long is not so long again; what is held up is, each time.
    const longest: number[] = []
    do {
      const before = slowness()
      const { turns, stop } = watchTurns()
      const source = await crawl(app, { ...start, url: site.url })
      stop()
      expect(source).toMatchObject({ status: 'ready', config: { pageCount: 1 } })
      expect(turns.length).toBeGreaterThan(10)
      longest.push(Math.max(...turns) / Math.max(before, slowness()))
    } while (longest.length < 3 && Math.min(...longest) >= 20)
    // Ten to fifteen, whatever the page; what is read in this thread takes a hundred and more.
    expect(Math.min(...longest)).toBeLessThan(20)
  })
})

/** Milliseconds of the main thread's own time in each turn of its event loop: what other threads and programs do is left out. */
function watchTurns() {
  const turns: number[] = []
  let last = process.threadCpuUsage()
  const note = () => {
    turns.push(millisecondsOf(process.threadCpuUsage(last)))
    last = process.threadCpuUsage()
  }
  const timer = setInterval(note, 0)
  const stop = () => {
    clearInterval(timer)
    note()
  }
  return { turns, stop }
}
