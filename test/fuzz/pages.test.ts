/**
 * Shows generated pages to the real browser of a real process, watched and recorded. After each, the process lives, the
 * session answers or was ended with a sentence, and a new one opens.
 */
import { expect, it, onTestFinished } from 'vitest'
import { browserPath, type Executed } from '../support/action-stage.ts'
import { openChannel } from '../support/cast-client.ts'
import { isFullEndurance } from '../support/endurance.ts'
import { eventually } from '../support/eventually.ts'
import { answerPages, type FuzzedPage, fuzzedPage } from '../support/fuzz/pages.ts'
import { seededRandom } from '../support/random.ts'
import { type ServerProcess, startServerProcess } from '../support/server-process.ts'
import { shareChromium } from '../support/shared-chromium.ts'
import { startSite } from '../support/site-server.ts'
import { makeTemporaryDirectory } from '../support/temporary-directory.ts'

const pages = isFullEndurance ? 200 : 10
/** Another one may be named, to try something else. */
const seed = Number(process.env.FUZZ_SEED ?? 35)
/** Times that a session is tried: one that hung has another tab then. */
const tries = 3
/** Milliseconds for what a page does, and for the answer of a session. */
const actionMs = 1_000
const answerMs = 5_000

/** How a session ended; undefined for one that answers. */
async function endOf(server: ServerProcess, path: string): Promise<string | undefined> {
  let last = ''
  for (let times = 0; times < tries; times += 1) {
    const body = { action: 'navigate', url: 'about:blank', dialog: 'accept', timeout: answerMs }
    const answer = await server.call<Executed>('POST', `${path}/execute`, { body })
    last = `${answer.status} ${answer.body.error?.message}`
    if (/Open a new (?:session|one)\.$/.test(last)) return last
    // A page may go elsewhere instead.
    if (answer.status === 200 || answer.body.error?.code === 'BROWSER_FAILED') return undefined
  }
  throw new Error(`The session neither answers nor has ended: ${last}`)
}

/** Opens a session that is watched and recorded, shows it the page, and ends it. */
async function show(server: ServerProcess, url: string): Promise<void> {
  const opened = await server.call<{ id: string }>('POST', browserPath, { body: { record: true } })
  expect(opened).toMatchObject({ status: 201 })
  const { id } = opened.body
  const path = `${browserPath}/${id}`
  const watching = ['cast', 'logs'].map(name =>
    openChannel(server.url, `/v1/sessions/${name}?sessionId=${id}`),
  )
  const channels = await Promise.all(watching)
  const actions = [{ action: 'navigate', url }, { action: 'outline' }]
  const body = { actions: actions.map(action => ({ timeout: actionMs, ...action })) }
  const answer = await server.call<Executed>('POST', `${path}/execute`, { body })
  expect([200, 409, 500], JSON.stringify(answer.body).slice(0, 500)).toContain(answer.status)
  const end = await endOf(server, path)
  // Callers hear of the end before it is stored.
  const isStored = async () =>
    expect(await server.call('GET', path)).toMatchObject({ body: { status: 'error' } })
  if (end !== undefined) await eventually(isStored)
  await server.call('DELETE', `${browserPath}?id=${id}`)
  await Promise.all(channels.map(channel => channel[Symbol.asyncDispose]()))
  expect(await server.call('GET', '/healthz')).toMatchObject({ status: 200 })
}

it(`${pages} pages end no process, with the seed ${seed}`, { timeout: pages * 60_000 }, async () => {
  const random = seededRandom(seed)
  let shown: FuzzedPage = { name: '', html: '' }
  const site = await startSite(answerPages(() => shown))
  const { path: dataDirectory, remove } = makeTemporaryDirectory()
  shareChromium(dataDirectory)
  const server = await startServerProcess({ dataDirectory, environment: { OUTBOUND_ALLOW: '127.0.0.1' } })
  onTestFinished(async () => {
    await server[Symbol.asyncDispose]()
    await site[Symbol.asyncDispose]()
    remove()
  })
  for (let n = 0; n < pages; n += 1) {
    shown = fuzzedPage(random)
    await show(server, `${site.url}/page?${n}`).catch(error => {
      throw new Error(`Page ${n} with ${shown.name}`, { cause: error })
    })
  }
  expect(await server.call('POST', browserPath, { body: {} })).toMatchObject({ status: 201 })
  expect(await server.stop()).toBe(0)
})
