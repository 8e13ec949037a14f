/** What watching a browser session costs, against what the browser itself gives over its DevTools protocol. */
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { bundledChromium } from '#features/browser/chromium/bundled.ts'
import { parseMessage } from '#features/browser/chromium/devtools/parse-message.ts'
import { startChromium } from '#features/browser/chromium/start.ts'
import { makeDataDirectory } from './support/data-directory.ts'
import { startLiveSite } from './support/live-page.ts'
import { call, startService } from './support/service.ts'
import { median, percentile } from './support/statistics.ts'
import { printTable, rounded } from './support/table.ts'

/** Milliseconds of each measurement, and between two acknowledgements of the reference, as the service has it. */
const measuredMs = 5000
const paceMs = 40
const ticksPerSecond = 100

await using site = await startLiveSite()
const reference = await referenceFrames()
await using service = await startService({ environment: { OUTBOUND_ALLOW: '127.0.0.1' } })
const sessions = `${service.address}/api/agents/default/browser`
const { id } = await post<{ id: string }>(sessions, {})
const channel = `${service.address.replace('http', 'ws')}/v1/sessions/cast?sessionId=${id}`

await act({ action: 'navigate', url: site.animated })
const one = await watch(1)
const four = await watch(4)
const { memory, others } = await watchBesideSlowOne()
await act({ action: 'navigate', url: site.still })
const atRest = await costAtRest()
const clicks = await measureClicks()
const keys = await measureKeys()
const moves = await measureMoves()

printTable('browser-live', 'the screencast of the browser itself, acknowledged at the same pace', [
  {
    what: 'frames a second at one watcher',
    service: rounded(one.frames),
    reference: rounded(reference),
    figure: one.frames / reference,
    unit: '×',
    bar: { least: 0.9 },
  },
  {
    what: 'frames a second at each of four',
    service: rounded(four.frames),
    reference: rounded(reference),
    figure: four.frames / reference,
    unit: '×',
    bar: { least: 0.9 },
  },
  {
    what: 'processor time of the service for four, against one',
    service: `${rounded(four.processor)} %`,
    reference: `${rounded(one.processor)} %`,
    figure: four.processor / one.processor,
    unit: '×',
    bar: { most: 2 },
  },
  {
    what: 'a page at rest, the browser included, of a core',
    service: `${rounded(atRest)} %`,
    figure: atRest,
    unit: '%',
    bar: { most: 3 },
  },
  {
    what: 'memory for a watcher that reads nothing',
    service: `${rounded(memory)} MB`,
    figure: memory,
    unit: 'MB',
    bar: { most: 8 },
  },
  {
    what: 'frames at another watcher meanwhile',
    service: rounded(others),
    reference: rounded(one.frames),
    figure: others / one.frames,
    unit: '×',
    bar: { least: 0.95 },
  },
  {
    what: 'a click at a watcher to the changed frame there, median',
    service: `p95 ${rounded(percentile(clicks.frame, 0.95))} ms`,
    figure: median(clicks.frame),
    unit: 'ms',
    bar: { most: 100 },
  },
  {
    what: "a press to the page's handler, median",
    service: `p95 ${rounded(percentile(clicks.handler, 0.95))} ms`,
    figure: median(clicks.handler),
    unit: 'ms',
    bar: { most: 10 },
  },
  {
    what: "a key to the page's handler, median",
    service: `p95 ${rounded(percentile(keys, 0.95))} ms`,
    figure: median(keys),
    unit: 'ms',
    bar: { most: 10 },
  },
  {
    what: 'the last of 500 moves to the page, median (two frames are 33 ms)',
    service: `p95 ${rounded(percentile(moves, 0.95))} ms`,
    figure: median(moves),
    unit: 'ms',
    bar: { most: 33.4 },
  },
])

function post<Body>(address: string, body: object): Promise<Body> {
  const headers = { 'content-type': 'application/json' }
  return call<Body>(address, { method: 'POST', headers, body: JSON.stringify(body) })
}

async function act(action: object): Promise<Record<string, unknown>> {
  const answer = await post<{ result: Record<string, unknown> }>(`${sessions}/${id}/execute`, action)
  return answer.result
}

/** Frames a second of a browser that nobody but this program drives. */
async function referenceFrames(): Promise<number> {
  const program = await bundledChromium(makeDataDirectory())
  const options = {
    program,
    headless: true,
    display: undefined,
    sandbox: true,
    ownLibraries: false,
    parseLarge: async (bytes: Buffer) => parseMessage(bytes),
  }
  const { browser, ended } = await startChromium(options)
  // The browser itself has a proxy where nobody listens: only what is excepted goes without one.
  const proxy = { server: 'http://127.0.0.1:9', bypass: '127.0.0.1' }
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 }, proxy })
  const page = await context.newPage()
  await page.goto(site.animated)
  const cdp = await context.newCDPSession(page)
  let frames = 0
  let due = 0
  cdp.on('Page.screencastFrame', ({ sessionId }) => {
    frames += 1
    due = Math.max(performance.now(), due + paceMs)
    setTimeout(
      () => void cdp.send('Page.screencastFrameAck', { sessionId }).catch(() => {}),
      Math.max(0, due - performance.now()),
    )
  })
  await cdp.send('Page.startScreencast', { format: 'jpeg', quality: 75, maxWidth: 1280, maxHeight: 720 })
  await delay(1000)
  frames = 0
  await delay(measuredMs)
  const measured = frames / (measuredMs / 1000)
  await browser.close()
  await ended
  return measured
}

interface Watcher {
  socket: WebSocket
  frames: number
  /** Called with each frame. */
  onFrame(): void
}

async function openWatcher(): Promise<Watcher> {
  const watcher: Watcher = { socket: new WebSocket(channel), frames: 0, onFrame() {} }
  watcher.socket.on('message', (data: Buffer) => {
    // Frames are the messages without a type, which is the first field of all others.
    if (data.toString('latin1', 0, 8) === '{"type":') return
    watcher.frames += 1
    watcher.onFrame()
  })
  await once(watcher.socket, 'open')
  return watcher
}

/** Frames a second at each, and the share of a core that the service itself took. */
async function watch(count: number): Promise<{ frames: number; processor: number }> {
  const watchers = await Promise.all(Array.from({ length: count }, openWatcher))
  await delay(1000)
  for (const watcher of watchers) watcher.frames = 0
  const before = service.processorTime() / 1000
  await delay(measuredMs)
  const spent = service.processorTime() / 1000 - before
  const frames = Math.min(...watchers.map(watcher => watcher.frames)) / (measuredMs / 1000)
  for (const { socket } of watchers) socket.terminate()
  return { frames, processor: (spent / (measuredMs / 1000)) * 100 }
}

/** What a watcher that reads nothing for a minute adds to the memory, and what another one gets meanwhile. */
async function watchBesideSlowOne(): Promise<{ memory: number; others: number }> {
  const other = await openWatcher()
  // The memory of a process that makes garbage grows for a while by itself.
  const alone = await mostMemory()
  const slow = await openWatcher()
  slow.socket.pause()
  other.frames = 0
  const begun = performance.now()
  const both = await mostMemory()
  const others = other.frames / ((performance.now() - begun) / 1000)
  for (const { socket } of [slow, other]) socket.terminate()
  return { memory: Math.max(0, both - alone), others }
}

/** The most that the service holds within a minute less the time after which who does not answer is dropped, in MB. */
async function mostMemory(): Promise<number> {
  let most = 0
  for (let second = 0; second < 55; second += 1) {
    await delay(1000)
    most = Math.max(most, service.residentMemory())
  }
  return most
}

async function costAtRest(): Promise<number> {
  const watcher = await openWatcher()
  await delay(1500)
  const all = () => service.processorTime() / 1000 + processorSeconds(browsers())
  const before = all()
  await delay(measuredMs)
  const spent = all() - before
  watcher.socket.terminate()
  return (spent / (measuredMs / 1000)) * 100
}

async function measureClicks(): Promise<{ frame: number[]; handler: number[] }> {
  const watcher = await openWatcher()
  await delay(500)
  const sent: number[] = []
  const frame: number[] = []
  for (let turn = 0; turn < 60; turn += 1) {
    const changed = new Promise<void>(resolve => {
      watcher.onFrame = resolve
    })
    sent.push(performance.timeOrigin + performance.now())
    const begun = performance.now()
    const where = { type: 'mouseEvent', x: 100 + turn, y: 100, button: 'left' }
    watcher.socket.send(JSON.stringify({ ...where, event: 'mousePressed' }))
    await changed
    frame.push(performance.now() - begun)
    watcher.socket.send(JSON.stringify({ ...where, event: 'mouseReleased' }))
    await delay(150)
  }
  watcher.socket.terminate()
  const times = (await act({ action: 'evaluate', expression: 'seen.mousedown' })).value as { at: number }[]
  return { frame, handler: sent.map((at, index) => (times[index]?.at ?? Number.NaN) - at) }
}

async function measureKeys(): Promise<number[]> {
  const watcher = await openWatcher()
  const sent: number[] = []
  for (let turn = 0; turn < 60; turn += 1) {
    sent.push(performance.timeOrigin + performance.now())
    watcher.socket.send(JSON.stringify({ type: 'keyEvent', event: 'keyDown', key: 'a', code: 'KeyA' }))
    await delay(30)
  }
  watcher.socket.terminate()
  const times = (await act({ action: 'evaluate', expression: 'seen.keydown' })).value as { at: number }[]
  return sent.map((at, index) => (times[index]?.at ?? Number.NaN) - at)
}

/** From when the last of many moves was sent to when the page knew of it. */
async function measureMoves(): Promise<number[]> {
  const watcher = await openWatcher()
  const times: number[] = []
  for (let turn = 0; turn < 20; turn += 1) {
    const last = 1000 + turn
    for (let move = 0; move < 500; move += 1)
      watcher.socket.send(
        JSON.stringify({ type: 'mouseEvent', event: 'mouseMoved', x: move === 499 ? last : move, y: 5 }),
      )
    const sent = performance.timeOrigin + performance.now()
    await delay(200)
    const expression = `seen.mousemove.find(({ x }) => x === ${last})?.at ?? null`
    const at = (await act({ action: 'evaluate', expression })).value as number | null
    times.push((at ?? Number.NaN) - sent)
  }
  watcher.socket.terminate()
  return times
}

function browsers(): number[] {
  const names = readdirSync('/proc').filter(name => /^\d+$/.test(name))
  const mark = `agentstead-browser-${service.pid}-`
  const groupOf = (name: string) => read(name, 'stat').split(') ').at(-1)?.split(' ')[2]
  const mains = new Set(names.filter(name => groupOf(name) === name && read(name, 'cmdline').includes(mark)))
  return names.filter(name => mains.has(groupOf(name) ?? '')).map(Number)
}

function processorSeconds(pids: readonly number[]): number {
  const ticks = pids.map(pid => {
    const [, , , , , , , , , , , user, system] =
      read(String(pid), 'stat').split(') ').at(-1)?.split(' ') ?? []
    return Number(user ?? 0) + Number(system ?? 0)
  })
  return ticks.reduce((sum, one) => sum + one, 0) / ticksPerSecond
}

function read(name: string, file: string): string {
  try {
    return readFileSync(`/proc/${name}/${file}`, 'utf8')
  } catch {
    // It has ended meanwhile.
    return ''
  }
}
