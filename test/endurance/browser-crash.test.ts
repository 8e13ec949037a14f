/** kill -9 of Chromium, or of one of its renderers, at random moments of all that is done with it. */
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { browserProcesses } from '../support/browser-stage.ts'
import { buildApp, type TestApp } from '../support/build-app.ts'
import { openChannel } from '../support/cast-client.ts'
import { crawl, forCrawls } from '../support/crawl.ts'
import { isFullEndurance } from '../support/endurance.ts'
import { seededRandom } from '../support/random.ts'
import { type Site, startSite } from '../support/site-server.ts'

const path = '/api/agents/default/browser'
const rounds = isFullEndurance ? 50 : 5
/** Milliseconds that each call may take at most: its own time-out is 5 s. */
const answeredMs = 20_000

let app: TestApp
let site: Site
let origin: string

beforeAll(async () => {
  const script = `setInterval(() => { document.querySelector('p').textContent += ' ' + Date.now() }, 20)`
  site = await startSite(({ path: asked }) => {
    // A page that changes without end is read for seconds.
    const isStill = asked.startsWith('/still')
    return `<!doctype html><title>Site</title><p>Text</p><input><a href="${isStill ? '/still/next' : '/next'}">Next</a>${isStill ? '' : `<script>${script}</script>`}`
  })
  app = await buildApp({ environment: forCrawls })
  origin = await app.listen()
})

afterAll(async () => {
  await app?.close()
  await site?.[Symbol.asyncDispose]()
})

interface Answered {
  status: number
  body: { error?: { message: string }; success?: boolean; results?: { success: boolean; error?: string }[] }
}

const open = (body: object = {}) =>
  inTime(app.call<Answered['body'] & { id: string }>('POST', path, { body }), 'opening')
const execute = (id: string, body: object) =>
  inTime(app.call<Answered['body']>('POST', `${path}/${id}/execute`, { body }), JSON.stringify(body))
const actions = [
  { action: 'navigate', url: '/' },
  { action: 'type', selector: 'input', text: 'typed' },
  { action: 'screenshot', full_page: true },
  { action: 'outline' },
  { action: 'click', selector: 'a' },
  { action: 'evaluate', expression: 'new Promise(done => setTimeout(done, 200))' },
]

async function act(options: object = {}): Promise<Answered[]> {
  const opened = await open(options)
  if (opened.status !== 201) return [opened]
  const { id } = opened.body
  const each = actions.map(one => ('url' in one ? { ...one, url: site.url } : one))
  const answers: Answered[] = [await execute(id, { actions: each })]
  for (const one of each) answers.push(await execute(id, one))
  return answers
}

/** What may be under way when the browser is killed; gives the answers of all calls. */
const uses: Record<string, () => Promise<Answered[]>> = {
  actions: () => act(),
  recording: () => act({ record: true }),
  async cast() {
    const opened = await open()
    if (opened.status !== 201) return [opened]
    const { id } = opened.body
    await using channel = await openChannel(origin, `/v1/sessions/cast?sessionId=${id}`)
    channel.send({ type: 'getSelectedText' })
    return [
      await execute(id, { action: 'navigate', url: site.url }),
      await execute(id, { action: 'screenshot' }),
    ]
  },
  async crawl() {
    const { status } = await crawl(app, { url: `${site.url}/still`, render: 'always', maxPages: 3 })
    expect(['ready', 'error', 'failed']).toContain(status)
    return []
  },
}

/** Sentences that tell what came of it: each names its subject, and ends. */
function expectSentences({ status, body }: Answered): void {
  const said = [body.error?.message, ...(body.results ?? []).map(({ error }) => error)].filter(
    one => one !== undefined,
  )
  if (status >= 400 || body.success === false) expect(said.length).toBeGreaterThan(0)
  for (const sentence of said) expect(sentence).toMatch(/^[A-Z].{10,}[.]$/)
}

async function inTime<Value>(work: Promise<Value>, what: string): Promise<Value> {
  const late = delay(answeredMs, undefined, { ref: false }).then(() => {
    throw new Error(`${what} hung`)
  })
  late.catch(() => {})
  return await Promise.race([work, late])
}

describe('kill -9', () => {
  const random = seededRandom(2711)

  it.each(Array.from({ length: rounds }, (_, round) => round))('at random moment %i', async () => {
    const name = random.pick(Object.keys(uses))
    const target = random.pick(['browser', 'renderer'])
    const using = uses[name]?.() ?? Promise.resolve([])
    using.catch(() => {})
    await delay(random.next() * 1500)
    const processes = browserProcesses()
    const victims = processes.filter(({ pid, group, commandLine }) =>
      target === 'browser' ? pid === group : commandLine.includes('--type=renderer'),
    )
    for (const { pid } of victims) {
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // It has ended meanwhile.
      }
    }
    const answers = await using
    for (const answer of answers) expectSentences(answer)
    const opened = await open()
    expect(opened).toMatchObject({ status: 201 })
    const { id } = opened.body
    expect(await execute(id, { action: 'evaluate', expression: '1 + 1' })).toMatchObject({
      status: 200,
      body: { result: { value: 2 } },
    })
    await app.call('DELETE', `${path}?id=${id}`)
    const { body } = await app.call<{ sessions: { id: string }[] }>('GET', `${path}?limit=20`)
    for (const one of body.sessions) await app.call('DELETE', `${path}?id=${one.id}`)
  })
})
