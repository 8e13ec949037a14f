/** Pages whose browsers say far more than can be read, against the whole service as a process of its own. */
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isFullEndurance } from '../support/endurance.ts'
import { eventually } from '../support/eventually.ts'
import { type ServerProcess, startServerProcess } from '../support/server-process.ts'
import { shareChromium } from '../support/shared-chromium.ts'
import { type Site, startSite } from '../support/site-server.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const size = isFullEndurance ? 1e8 : 1e7
/** Each of its characters is six in the protocol's JSON. */
const text = `'\\u0001'.repeat(${size})`
const path = '/api/agents/default/browser'

/** Scripts of pages. */
const pages = {
  console: `console.log(${text})`,
  error: `setTimeout(() => { throw new Error(${text}) })`,
  prompt: `prompt(${text})`,
  body: `fetch('/', { method: 'POST', body: ${text} })`,
  frame: `document.body.append(Object.assign(document.createElement('iframe'), { name: ${text} }))`,
  window: `open('about:blank', ${text})`,
  values: `console.log(...Array(100_000).fill({}))`,
  title: `Object.defineProperty(document, 'title', { value: { slice: () => Array(2e6).fill(0) } })`,
  flood: `setInterval(() => { for (let i = 0; i < 2000; i += 1) console.log('x'.repeat(2000) + i) }, 10)`,
}

let site: Site
let server: ServerProcess

beforeAll(async () => {
  site = await startSite(({ path: asked }) => {
    const script = pages[asked.slice(1) as keyof typeof pages]
    return `<!doctype html><title>x</title><body><p>Some text<script>${script ?? ''}</script>`
  })
  const dataDirectory = temporaryDirectory(afterAll)
  shareChromium(dataDirectory)
  const environment = { DEV_USER: 'dev@example.com', OUTBOUND_ALLOW: '127.0.0.1' }
  server = await startServerProcess({ dataDirectory, environment })
  // With what the first session loads.
  const id = await openSession()
  await execute(id, { action: 'navigate', url: site.url })
  await server.call('DELETE', `${path}?id=${id}`)
})

afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
  await site?.[Symbol.asyncDispose]()
})

/** Megabytes of the process, without its browsers. */
function memory(): number {
  const status = readFileSync(`/proc/${server.process.pid}/status`, 'utf8')
  return Number(/^VmRSS:\s*(\d+)/m.exec(status)?.[1]) / 1000
}

/** Sees to it that others are answered while the work is under way; gives the most memory that was held. */
async function watching(work: Promise<unknown>): Promise<number> {
  let isOver = false
  let most = 0
  const over = work.finally(() => {
    isOver = true
  })
  over.catch(() => {})
  while (!isOver) {
    expect((await server.call('GET', '/healthz')).status).toBe(200)
    most = Math.max(most, memory())
    await delay(20)
  }
  await over
  return most
}

interface Executed {
  result?: { value: unknown }
  error?: { message: string }
}

async function openSession(): Promise<string> {
  const { status, body } = await server.call<{ id: string }>('POST', path, { body: {} })
  expect(status, JSON.stringify(body)).toBe(201)
  return body.id
}

const execute = (id: string, body: object) => server.call<Executed>('POST', `${path}/${id}/execute`, { body })
/** Milliseconds in which a busy browser says all that it has to say, so that it is not cut short. */
const timeout = 60_000
const add = { action: 'evaluate', expression: '1 + 1', timeout }

/** Acts as the case says, then in the same session, in one beside it and in a new one. */
async function useSession(first: object, isFlood: boolean): Promise<void> {
  const [id, neighbour] = [await openSession(), await openSession()]
  for (const action of [first, add]) {
    const { status, body } = await execute(id, action)
    if (status !== 200) expect(body.error?.message).toMatch(/^[A-Z].{20,}[.]$/)
  }
  // A flood may keep the browser itself from everything, which then is ended.
  if (!isFlood) expect((await execute(neighbour, add)).body.result?.value).toBe(2)
  const next = await openSession()
  await eventually(async () => expect((await execute(next, add)).body.result?.value).toBe(2), 30_000)
  for (const one of [id, neighbour, next]) await server.call('DELETE', `${path}?id=${one}`)
}

async function expectMemory(work: Promise<unknown>): Promise<void> {
  const before = memory()
  expect(await watching(work)).toBeLessThan(600)
  await eventually(() => expect(memory()).toBeLessThan(before * 1.2), 30_000)
}

describe('the service lives on, answers others and gives back its memory when', () => {
  const all = Object.keys(pages)

  it.each(isFullEndurance ? all : ['console', 'title'])('a page does this: %s', async name => {
    await expectMemory(
      useSession({ action: 'navigate', url: `${site.url}/${name}`, timeout }, name === 'flood'),
    )
  })

  it('an expression gives a text without end', async () => {
    await expectMemory(
      useSession({ action: 'evaluate', expression: `'x'.repeat(${size * 5})`, timeout }, false),
    )
  })

  it.each(isFullEndurance ? all : [])('a page that is crawled does this: %s', async name => {
    const crawl = async () => {
      const body = { name: 'Site', url: `${site.url}/${name}`, render: 'always', maxPages: 1 }
      const started = await server.call<{ id: string }>('POST', '/api/agents/default/sources/crawl', { body })
      expect(started.status).toBe(201)
      await eventually(async () => {
        const { body } = await server.call<{ status: string }>(
          'GET',
          `/api/agents/default/sources/${started.body.id}`,
        )
        expect(['ready', 'error', 'failed']).toContain(body.status)
      }, 80_000)
    }
    await expectMemory(crawl())
  })

  it('a session that was ended says why', async () => {
    const id = await openSession()
    const evaluated = execute(id, {
      action: 'evaluate',
      expression: `console.log('\\u0001'.repeat(4e6)), new Promise(() => {})`,
      timeout,
    })
    expect((await evaluated).body.error?.message).toMatch(
      /^A page of this session had its browser send \d+ MiB/,
    )
    await eventually(async () =>
      expect((await server.call('GET', `${path}/${id}`)).body).toMatchObject({ status: 'error' }),
    )
    const { status, body } = await execute(id, add)
    expect([status, body.error?.message]).toEqual([
      409,
      expect.stringMatching(/ended \(error\)\. A page of this session had/),
    ])
  })
})
