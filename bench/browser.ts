/** What a session in a running browser costs, against a browser for each; and what the guard adds to a page. */
import { readdirSync, readFileSync } from 'node:fs'
import type { Browser } from 'playwright-core'
import { bundledChromium } from '#features/browser/chromium/bundled.ts'
import { parseMessage } from '#features/browser/chromium/devtools/parse-message.ts'
import { type RunningBrowser, startChromium } from '#features/browser/chromium/start.ts'
import { BrowserSession } from '#features/browser/sessions/browser-session.ts'
import { systemClock } from '#platform/clock.ts'
import { createForwardProxy } from '#platform/outbound/forward-proxy.ts'
import { createOutbound } from '#platform/outbound/outbound.ts'
import { makeDataDirectory } from './support/data-directory.ts'
import { startScriptSite } from './support/script-site.ts'
import { median } from './support/statistics.ts'
import { printTable, rounded } from './support/table.ts'

const turns = 7
const program = await bundledChromium(makeDataDirectory())
const outbound = createOutbound({ allow: ['127.0.0.1'], userAgent: 'benchmark' })
await using site = await startScriptSite()

const running = await start()
const own: number[] = []
const shared: number[] = []
// The first of each loads what all need.
for (let turn = 0; turn <= turns; turn += 1) {
  const withOwn = await timed(openAlone)
  const inRunning = await timed(() => openSession(running.browser))
  if (turn > 0) {
    own.push(withOwn.milliseconds)
    shared.push(inRunning.milliseconds)
  }
  await end(withOwn.result.running)
  await inRunning.result.close()
}
await end(running)

const tenOwn = await memoryOf(10, () => openAlone().then(one => one.running))
const one = await start()
const tenShared = await memoryOf(10, () => openSession(one.browser).then(() => one), [one])
const twentyShared = await loadAtOnce(start, true)
const twentyOwn = await loadAtOnce(start, false)
const { direct, guarded } = await loadScripts()
await outbound.close()

printTable('browser', 'a browser for each session; for the page, one without the guard', [
  {
    what: `a session is opened, median of ${turns}`,
    service: `${rounded(median(shared))} ms`,
    reference: `${rounded(median(own))} ms`,
    figure: median(shared) / median(own),
    unit: '×',
    bar: { most: 0.4 },
  },
  {
    what: 'memory (PSS) of ten with a page',
    service: `${rounded(tenShared)} MB`,
    reference: `${rounded(tenOwn)} MB`,
    figure: tenShared / tenOwn,
    unit: '×',
    bar: { most: 0.65 },
  },
  {
    what: 'twenty are opened and load a page at once',
    service: `${rounded(twentyShared)} ms`,
    reference: `${rounded(twentyOwn)} ms`,
    figure: twentyShared / twentyOwn,
    unit: '×',
    bar: { most: 0.85 },
  },
  {
    what: 'a page with 20 cached scripts',
    service: `${rounded(guarded)} ms`,
    reference: `${rounded(direct)} ms`,
    figure: guarded / direct,
    unit: '×',
    bar: { most: 1.5 },
  },
])

function start(): Promise<RunningBrowser> {
  return startChromium({
    program,
    headless: true,
    display: undefined,
    sandbox: true,
    ownLibraries: false,
    parseLarge: async bytes => parseMessage(bytes),
  })
}

async function end({ browser, ended }: RunningBrowser): Promise<void> {
  await browser.close()
  await ended
}

async function openSession(browser: Browser): Promise<BrowserSession> {
  const proxy = await createForwardProxy({ connect: outbound.connect, owner: 'benchmark' })
  const viewport = { width: 1280, height: 720 }
  const kept = { userAgent: 'Benchmark', storageState: undefined, clock: systemClock }
  return await BrowserSession.open({ id: '1', agentId: 'benchmark', browser, proxy, viewport, ...kept })
}

async function openAlone() {
  const alone = await start()
  return { running: alone, session: await openSession(alone.browser) }
}

async function timed<Result>(work: () => Promise<Result>) {
  const begun = performance.now()
  const result = await work()
  return { result, milliseconds: performance.now() - begun }
}

/** Megabytes of all browsers of this process when so many were opened; ends them. */
async function memoryOf(
  count: number,
  open: () => Promise<RunningBrowser>,
  opened: RunningBrowser[] = [],
): Promise<number> {
  for (let n = 0; n < count; n += 1) opened.push(await open())
  const memory = proportionalMemory()
  for (const browser of new Set(opened)) await end(browser)
  return memory
}

/** Milliseconds; the fastest of three. */
async function loadAtOnce(open: () => Promise<RunningBrowser>, isShared: boolean): Promise<number> {
  const all: number[] = []
  for (let turn = 0; turn < 3; turn += 1) {
    const { result, milliseconds } = await timed(async () => {
      const first = await open()
      const browsers = [first]
      const load = async (index: number) => {
        const browser = isShared || index === 0 ? first : await open()
        browsers.push(browser)
        await (await (await openSession(browser.browser)).page()).goto(site.url)
      }
      await Promise.all(Array.from({ length: 20 }, (_, index) => load(index)))
      return browsers
    })
    all.push(milliseconds)
    for (const browser of new Set(result)) await end(browser)
  }
  return Math.min(...all)
}

/** Milliseconds of the page with scripts, each but the first load, in turns. */
async function loadScripts(): Promise<{ direct: number; guarded: number }> {
  const browser = await start()
  const through = await (await openSession(browser.browser)).page()
  // The browser itself has a proxy where nobody listens: only what is excepted goes without one.
  const proxy = { server: 'http://127.0.0.1:9', bypass: '127.0.0.1' }
  const context = await browser.browser.newContext({ proxy })
  const around = await context.newPage()
  const times = { direct: [] as number[], guarded: [] as number[] }
  for (let turn = 0; turn < 20; turn += 1) {
    const guardedLoad = await timed(() => through.goto(site.url))
    const directLoad = await timed(() => around.goto(site.url))
    if (turn < 2) continue
    times.guarded.push(guardedLoad.milliseconds)
    times.direct.push(directLoad.milliseconds)
  }
  await end(browser)
  return { direct: median(times.direct), guarded: median(times.guarded) }
}

/** Megabytes of all processes of browsers that this process has started; what several share counts once. */
function proportionalMemory(): number {
  const read = (name: string, file: string) => {
    try {
      return readFileSync(`/proc/${name}/${file}`, 'utf8')
    } catch {
      return ''
    }
  }
  const groupOf = (name: string) => read(name, 'stat').split(') ').at(-1)?.split(' ')[2] ?? ''
  const names = readdirSync('/proc').filter(name => /^\d+$/.test(name))
  const mark = `agentstead-browser-${process.pid}-`
  const mains = new Set(names.filter(name => groupOf(name) === name && read(name, 'cmdline').includes(mark)))
  const kibibytes = names
    .filter(name => mains.has(groupOf(name)))
    .map(name => Number(/^Pss:\s+(\d+)/m.exec(read(name, 'smaps_rollup'))?.[1] ?? 0))
  return (kibibytes.reduce((sum, one) => sum + one, 0) * 1024) / 1e6
}
