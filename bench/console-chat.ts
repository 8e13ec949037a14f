/** What a long answer costs the page that shows it, whether a person can write meanwhile, and how soon a long conversation opens. */
import { setTimeout as delay } from 'node:timers/promises'
import type { CDPSession, Page } from 'playwright-core'
import { launchChromium } from './support/chromium.ts'
import { startProgram } from './support/program.ts'
import { call, startService } from './support/service.ts'
import { median, percentile } from './support/statistics.ts'
import { printTable, rounded } from './support/table.ts'

const tokens = 8000
const pace = 200
const messages = 1000
const opened = 5
const keyEveryMs = 500

await using model = await startProgram({ parameters: ['bench/support/model-server.ts'] })
await using service = await startService({
  environment: {
    DEV_USER: 'bench@localhost.test',
    DEFAULT_PROVIDER: 'openai-compatible',
    DEFAULT_MODEL: 'fake-model',
    OPENAI_COMPATIBLE_BASE_URL: `${model.address}/v1`,
  },
})
const chat = `${service.address}/api/agents/default/chat`
const view = `${service.address}/a/default/chat`
const browser = await launchChromium()

const idleKeys = await measureIdle()
const quick = await measureAnswer(1)
const slow = await measureAnswer(4)
const openings = await measureOpenings()
await browser.close()

printTable('console-chat', 'the same page without an answer', [
  {
    what: `main thread, ${tokens} tokens at ${pace}/s`,
    service: `${rounded(quick.busy)} %`,
    figure: quick.busy,
    unit: '%',
    bar: { most: 30 },
  },
  {
    what: 'a key to its letter meanwhile, p95',
    service: `${rounded(percentile(quick.keys, 0.95))} ms`,
    reference: `${rounded(percentile(idleKeys, 0.95))} ms`,
    figure: percentile(quick.keys, 0.95),
    unit: 'ms',
    bar: { most: 30 },
  },
  {
    what: 'the end of the answer after its last token is due',
    service: `${rounded(quick.late)} ms`,
    figure: quick.late,
    unit: 'ms',
  },
  {
    what: 'processor four times slower: the end after its last token is due',
    service: `${rounded(slow.late)} ms, main thread ${rounded(slow.busy)} %`,
    figure: slow.late,
    unit: 'ms',
    bar: { most: 1000 },
  },
  {
    what: 'processor four times slower: a key to its letter, p95',
    service: `${rounded(percentile(slow.keys, 0.95))} ms`,
    figure: percentile(slow.keys, 0.95),
    unit: 'ms',
    bar: { most: 100 },
  },
  {
    what: `a conversation of ${messages} messages opens, from a cold load`,
    service: `${rounded(median(openings))} ms`,
    figure: median(openings),
    unit: 'ms',
    bar: { most: 1000 },
  },
])

async function open(address: string): Promise<{ page: Page; tools: CDPSession }> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  const page = await context.newPage()
  const tools = await context.newCDPSession(page)
  await page.goto(address)
  await page.getByRole('textbox', { name: 'Message' }).waitFor()
  // A key counts until the frame that shows its letter.
  await page.evaluate(`
    window.keys = []
    addEventListener('keydown', ({ timeStamp }) =>
      requestAnimationFrame(() => setTimeout(() => keys.push(performance.now() - timeStamp))), true)`)
  return { page, tools }
}

async function typeUntil(page: Page, done: Promise<unknown>): Promise<number[]> {
  let isDone = false
  void done.then(() => {
    isDone = true
  })
  await page.getByRole('textbox', { name: 'Message' }).focus()
  while (!isDone) {
    await page.keyboard.press('a')
    await Promise.race([done, delay(keyEveryMs)])
  }
  return (await page.evaluate('keys')) as number[]
}

async function measureIdle(): Promise<number[]> {
  const { page } = await open(view)
  const keys = await typeUntil(page, delay(5000))
  await page.context().close()
  return keys
}

async function measureAnswer(slower: number) {
  const { page, tools } = await open(view)
  await tools.send('Performance.enable')
  await tools.send('Emulation.setCPUThrottlingRate', { rate: slower })
  const busyMs = async () => {
    const { metrics } = await tools.send('Performance.getMetrics')
    return 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0)
  }
  await page.getByRole('textbox', { name: 'Message' }).fill(`${tokens} tokens of Markdown at ${pace}/s`)
  await page.keyboard.press('Enter')
  await page.locator('.answer > *').first().waitFor()
  const [begun, busyBefore] = [performance.now(), await busyMs()]
  const done = page.getByRole('button', { name: 'Answer again' }).waitFor({ timeout: 120_000 })
  const keys = await typeUntil(page, done)
  const took = performance.now() - begun
  const busy = (100 * ((await busyMs()) - busyBefore)) / took
  await page.context().close()
  return { busy, keys, late: took - (1000 * tokens) / pace }
}

/** From the address to the last message, in a browser without anything cached. */
async function measureOpenings(): Promise<number[]> {
  const headers = { 'content-type': 'application/json' }
  let conversationId: string | undefined
  for (let sent = 0; sent < messages; sent += 2) {
    const body = JSON.stringify({ content: '30 tokens of Markdown', conversationId, autoRag: false })
    const answer = await call<{ userMessage: { conversationId: string } }>(chat, {
      method: 'POST',
      headers,
      body,
    })
    conversationId = answer.userMessage.conversationId
  }
  const times: number[] = []
  for (let time = 0; time < opened; time += 1) {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
    const page = await context.newPage()
    const begun = performance.now()
    await page.goto(`${view}?conversation=${conversationId}`)
    await page.getByRole('button', { name: 'Answer again' }).waitFor()
    times.push(performance.now() - begun)
    await context.close()
  }
  return times
}
