/** How fast a website of its own on this machine is crawled, against Crawlee; both at their own pace, in turns. */
import { setTimeout as delay } from 'node:timers/promises'
import { pageCount } from './support/crawl-size.ts'
import { makeDataDirectory } from './support/data-directory.ts'
import { type Program, startProgram } from './support/program.ts'
import { call, sourcesOf, startService } from './support/service.ts'
import { median } from './support/statistics.ts'
import { printTable, rounded } from './support/table.ts'

const turns = 3

interface Crawl {
  pages: number
  milliseconds: number
  processorTime: number
}

await using site = await startProgram({ parameters: ['bench/support/crawl-site.ts'] })
const ours: Crawl[] = []
const theirs: Crawl[] = []
for (let turn = 0; turn < turns; turn += 1) {
  ours.push(await crawlOurs())
  theirs.push(await crawlTheirs())
}
for (const { pages } of [...ours, ...theirs])
  if (pages < pageCount) throw new Error(`only ${pages} of ${pageCount} pages were found`)

const perSecond = (crawls: Crawl[]) => median(crawls.map(one => (1000 * one.pages) / one.milliseconds))
const perPage = (crawls: Crawl[]) => median(crawls.map(one => one.processorTime / one.pages))
const [speed, theirSpeed] = [perSecond(ours), perSecond(theirs)]
const [cost, theirCost] = [perPage(ours), perPage(theirs)]
printTable('crawl', "Crawlee's CheerioCrawler, which parses and stores but does not index", [
  {
    what: `pages a second, ${pageCount} pages, median of ${turns}`,
    service: `${rounded(speed)} /s`,
    reference: `${rounded(theirSpeed)} /s`,
    figure: speed / theirSpeed,
    unit: '×',
    bar: { least: 1 },
  },
  {
    what: 'processor time of a page, all threads',
    service: `${rounded(cost)} ms`,
    reference: `${rounded(theirCost)} ms`,
    figure: cost / theirCost,
    unit: '×',
  },
])

/** A process of its own for each, so that neither has an advantage of what ran before. */
async function crawlOurs(): Promise<Crawl> {
  const environment = { CRAWL_MAX_PAGES: `${2 * pageCount}`, OUTBOUND_ALLOW: '127.0.0.1' }
  await using service = await startService({ environment })
  return await measure(service, async () => {
    const begun = performance.now()
    const { id } = await call<{ id: string }>(`${sourcesOf(service)}/crawl`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Handbook', url: site.address, maxPages: 2 * pageCount, maxDepth: 5 }),
    })
    for (;;) {
      const { status, error, config } = await call<{
        status: string
        error?: string
        config: { pageCount?: number }
      }>(`${sourcesOf(service)}/${id}`)
      if (status === 'error') throw new Error(error)
      if (status === 'ready') return { pages: config.pageCount ?? 0, milliseconds: performance.now() - begun }
      await delay(100)
    }
  })
}

async function crawlTheirs(): Promise<Crawl> {
  const environment = { CRAWLEE_STORAGE_DIR: makeDataDirectory() }
  await using crawlee = await startProgram({ parameters: ['bench/support/crawlee.ts'], environment })
  return await measure(crawlee, () => call(crawlee.address, { method: 'POST', body: site.address }))
}

async function measure(program: Program, crawl: () => Promise<Omit<Crawl, 'processorTime'>>): Promise<Crawl> {
  const before = program.processorTime()
  const crawled = await crawl()
  return { ...crawled, processorTime: program.processorTime() - before }
}
