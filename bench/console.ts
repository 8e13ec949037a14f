/** How soon the console is there, near and far; how soon its views; and what several tabs of it cost the service. */
import type { BrowserContext, Page } from 'playwright-core'
import { launchChromium } from './support/chromium.ts'
import { call, startService, uploadText } from './support/service.ts'
import { median } from './support/statistics.ts'
import { printTable, rounded } from './support/table.ts'

const runs = 5
/** 1.6 Mbit/s, and 150 ms from a request to its answer. */
const far = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 100_000 }
const tabCount = 8

await using service = await startService({ environment: { DEV_USER: 'bench@localhost.test' } })
const agent = `${service.address}/api/agents/default`
const home = `${service.address}/a/default`
await uploadText(service, 'kiln', 'The kiln is fired at 1280 degrees.')
await send('chat', { content: 'How hot is the kiln?' })
const browser = await launchChromium()

const near = await measureLoads()
const slow = await measureLoads(far)
const { first, again, requests } = await measureViews()
const { lastShown, streams } = await measureTabs()
await browser.close()

printTable('console', 'none', [
  {
    what: 'a first load until a message can be written',
    service: `${rounded(median(near))} ms`,
    figure: median(near),
    unit: 'ms',
    bar: { most: 500 },
  },
  {
    what: 'the same at 1.6 Mbit/s and 150 ms',
    service: `${rounded(median(slow))} ms`,
    figure: median(slow),
    unit: 'ms',
    bar: { most: 2000 },
  },
  { ...slowestOf(first, 'for the first time'), bar: { most: 150 } },
  { ...slowestOf(again, 'again'), bar: { most: 60 } },
  {
    what: `requests of a tour through ${first.size} views, a minute at a person's pace`,
    service: `${requests}`,
    figure: requests,
    unit: 'requests',
    bar: { most: 60 },
  },
  {
    what: `a change shows in ${tabCount} tabs, which hold ${streams} stream of changes`,
    service: `${rounded(median(lastShown))} ms`,
    figure: median(lastShown),
    unit: 'ms',
  },
])

function slowestOf(times: Map<string, number[]>, when: string) {
  const medians = [...times].map(([name, some]) => [name, median(some)] as const)
  const [name, figure] = medians.toSorted(([, one], [, other]) => other - one)[0] ?? ['', Number.NaN]
  const usual = median(medians.map(([, time]) => time))
  const service = `${rounded(usual)} ms at the median of all`
  return { what: `the slowest view with its data, ${when} (${name})`, service, figure, unit: 'ms' as const }
}

async function send(path: string, body: object): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  await call(`${agent}/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
}

/** A browser without anything cached, whose pages say when a frame has shown what is looked for, on their own clock. */
async function openContext(): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  await context.addInitScript(`
    window.shown = isThere => new Promise(resolve => {
      const look = () => {
        if (!isThere()) requestAnimationFrame(look)
        else requestAnimationFrame(() => setTimeout(() => resolve(performance.now())))
      }
      look()
    })
    const isWhole = title => document.querySelector('h1')?.textContent === title && !document.querySelector('main .placeholder')
    window.visit = title => {
      const begun = performance.now()
      ;[...document.querySelectorAll('.rail-link')].find(link => link.textContent === title).click()
      return shown(() => isWhole(title)).then(end => end - begun)
    }`)
  return context
}

async function measureLoads(network?: typeof far): Promise<number[]> {
  const times: number[] = []
  while (times.length < runs) {
    const context = await openContext()
    const page = await context.newPage()
    if (network) {
      const tools = await context.newCDPSession(page)
      await tools.send('Network.enable')
      await tools.send('Network.emulateNetworkConditions', network)
    }
    await page.goto(`${home}/chat`, { waitUntil: 'commit' })
    times.push(await page.evaluate("shown(() => document.querySelector('.composer textarea'))"))
    await context.close()
  }
  return times
}

/** Without the head start that a pointer above the link gives. */
async function measureViews() {
  const first = new Map<string, number[]>()
  const again = new Map<string, number[]>()
  const counts: number[] = []
  for (let run = 0; run < runs; run += 1) {
    const context = await openContext()
    const page = await context.newPage()
    let requests = 0
    page.on('request', request => {
      if (new URL(request.url()).pathname.startsWith('/api/')) requests += 1
    })
    await page.goto(`${home}/home`)
    await page.locator('.rail-link').first().waitFor()
    const [start = '', ...others] = await page.locator('.rail-link').allInnerTexts()
    await visitAll(page, others, first)
    counts.push(requests)
    await visitAll(page, [start, ...others], again)
    await context.close()
  }
  return { first, again, requests: median(counts) }
}

async function visitAll(page: Page, tour: readonly string[], times: Map<string, number[]>): Promise<void> {
  for (const title of tour) {
    const time: number = await page.evaluate(`visit(${JSON.stringify(title)})`)
    times.set(title, [...(times.get(title) ?? []), time])
  }
}

/** Milliseconds from a change to the last tab that shows it. */
async function measureTabs() {
  const context = await openContext()
  let streams = 0
  context.on('request', request => {
    if (request.url().endsWith('/events')) streams += 1
  })
  const tabs: Page[] = []
  while (tabs.length < tabCount) {
    const tab = await context.newPage()
    await tab.goto(`${home}/home`)
    tabs.push(tab)
  }
  const untilAllShow = (count: number) =>
    Promise.all(
      tabs.map(tab =>
        tab
          .locator('dl div')
          .filter({ hasText: 'Contacts' })
          .getByText(`${count}`, { exact: true })
          .waitFor(),
      ),
    )
  await untilAllShow(0)
  const lastShown: number[] = []
  for (let made = 1; made <= runs; made += 1) {
    const begun = performance.now()
    await send('contacts', { name: `Ada ${made}` })
    await untilAllShow(made)
    lastShown.push(performance.now() - begun)
  }
  await context.close()
  return { lastShown, streams }
}
