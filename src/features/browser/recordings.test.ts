import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { gunzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { makeAgent } from '#test/support/agents.ts'
import { openSession } from '#test/support/browser-stage.ts'
import type { TestApp } from '#test/support/build-app.ts'
import { buildApp, testApp } from '#test/support/build-app.ts'
import { eventually } from '#test/support/eventually.ts'
import { manualClock } from '#test/support/manual-clock.ts'
import { passTime } from '#test/support/pass-time.ts'
import type { Site } from '#test/support/site-server.ts'
import { sitePages, startSite } from '#test/support/site-server.ts'
import { createLiveLinks } from './live/live-links.ts'
import type { RrwebEvent } from './recordings/recordings.service.ts'
import { createRecordings } from './recordings/recordings.service.ts'
import type { RecordingLimits } from './recordings/storing.ts'
import type { BrowserSession } from './sessions/browser-session.ts'

const environment = { DEV_USER: 'dev@example.com', OUTBOUND_ALLOW: '127.0.0.1' }
const path = '/api/agents/default/browser'
const html = (body: string) => `<!doctype html><title>Shop</title><body>${body}`
const pages = {
  '/': html(`<h1>Shop</h1><p id="basket">Empty</p><button onclick="basket.textContent += ' pear'">Pear</button>
    <input id="name" aria-label="Name"><a href="/pay">Pay</a>`),
  '/large': html(`Large ${'x'.repeat(5_000_000)}`),
  '/pay': html('<h1>Pay</h1><a href="/" target="_blank">Again</a>'),
  '/login': html(`<input type="password" id="password" oninput="echo.textContent = value; this.title = value">
    <input autocomplete="one-time-code" id="code"><input autocomplete="cc-number" id="card"><p id="echo"></p>
    <button onclick="password.type = 'text'; password.setAttribute('value', password.value)">Show</button>`),
}

let app: TestApp
let site: Site
let origin: string

beforeAll(async () => {
  app = await buildApp({ environment })
  origin = await app.listen()
  site = await startSite(sitePages(pages))
})

afterAll(async () => {
  await app.close()
  await site[Symbol.asyncDispose]()
})

interface Recorded {
  events: (RrwebEvent & { data: { tag?: string; payload?: Record<string, unknown>; href?: string } })[]
  meta: { size: number; started_at: string; ended_at: string }
}

async function act(own: string, action: object): Promise<void> {
  const { status, body } = await app.call('POST', `${own}/execute`, { body: action })
  expect(status, JSON.stringify(body)).toBe(200)
}

const end = (id: string) => app.call('DELETE', `${path}?id=${id}`)

async function recordingOf(own: string): Promise<Recorded> {
  await eventually(async () => expect((await app.call('GET', `${own}/recording`)).status).toBe(200))
  const { status, body } = await app.call<Recorded>('GET', `${own}/recording`)
  expect(status).toBe(200)
  return body
}

const marksOf = ({ events }: Pick<Recorded, 'events'>) =>
  events
    .filter(({ type }) => type === 5)
    .map(({ data }) => ({ tag: data.tag, ...data.payload }) as Record<string, unknown>)

const addressesOf = ({ events }: Recorded) =>
  events.filter(({ type }) => type === 4).map(({ data }) => data.href)

/** The replay page of a session that has ended, on the screen of a phone, in a browser that reaches this machine. */
async function openReplay(own: string): Promise<Page> {
  const { body } = await app.call<{ url: string }>('GET', `${own}/live-view`)
  expect(body.url).toContain(`${origin}/replay/`)
  const { session } = await openSession(app, { viewport: { width: 390, height: 800 } })
  const page = await session.page()
  await page.goto(body.url)
  await page.locator('#controls').waitFor()
  return page
}

const frameText = `document.querySelector('iframe').contentDocument.body.innerText.trim()`
const textOf = (page: Page) => page.evaluate<string>(frameText)

describe('a recording', () => {
  it('shows at each moment what the page showed then, marks what the agent did, and survives the session', async () => {
    const { id, path: own, session } = await openSession(app, { record: true })
    const addresses: string[] = []
    const moments: { at: number; text: string; name: string }[] = []
    const actions = [
      { action: 'navigate', url: `${site.url}/` },
      { action: 'click', selector: 'button' },
      { action: 'type', selector: '#name', text: 'Ada' },
      { action: 'click', selector: 'text=Pay' },
      { action: 'click', selector: 'text=Again' },
    ]
    for (const action of actions) {
      await act(own, action)
      const page = await session.page()
      const text = await page.locator('body').innerText()
      const name = page.url().endsWith('/') ? await page.locator('#name').inputValue() : ''
      // What a new tab shows is recorded once the recorder has moved there.
      if (page.url() !== addresses.at(-1)) addresses.push(page.url())
      await eventually(async () =>
        expect(addressesOf(await recordingOf(own)).slice(-addresses.length)).toEqual(addresses),
      )
      moments.push({ at: Date.now(), text, name })
    }
    await end(id)
    const recording = await recordingOf(own)
    expect(marksOf(recording).map(({ action, selector, url }) => [action, selector ?? url])).toEqual([
      ['navigate', `${site.url}/`],
      ['click', 'button'],
      ['type', '#name'],
      ['click', 'text=Pay'],
      ['click', 'text=Again'],
    ])
    expect(JSON.stringify(marksOf(recording))).not.toContain('Ada')
    expect((await app.call('GET', own)).body).toMatchObject({
      status: 'closed',
      recording: recording.meta.size > 0 ? { size: recording.meta.size } : null,
    })
    const start = Math.min(...recording.events.map(({ timestamp }) => timestamp))
    const page = await openReplay(own)
    for (const { at, text, name } of moments.toReversed()) {
      await page
        .locator('#position')
        .fill(String(Math.min(at - start, Number(await page.getAttribute('#position', 'max')))))
      await eventually(async () => expect(await textOf(page)).toBe(text))
      if (name !== '')
        expect(
          await page.evaluate(
            `document.querySelector('iframe').contentDocument.querySelector('#name').value`,
          ),
        ).toBe(name)
    }
    expect(await page.locator('#marks button').allInnerTexts()).toHaveLength(5)
    await page.locator('#marks button').first().click()
    await page.locator('#position').focus()
    await page.keyboard.press('End')
    await eventually(async () => expect(await textOf(page)).toBe(moments.at(-1)?.text))
    await page.locator('#speed').selectOption('8')
    await page.locator('#play').click()
    await eventually(async () => expect(await page.locator('#play').innerText()).toBe('Play'))
  })
})

it('says what is wrong where there is nothing to replay, or the link is none', async () => {
  const { id, path: own } = await openSession(app)
  expect((await app.call('GET', own)).body).toMatchObject({ recording: null })
  expect((await app.call('GET', `${own}/recording`)).status).toBe(404)
  await end(id)
  expect((await app.call('GET', `${own}/live-view`)).status).toBe(409)
  const recorded = await openSession(app, { record: true })
  const { body: watching } = await app.call<{ url: string }>('GET', `${recorded.path}/live-view`)
  await end(recorded.id)
  const { body } = await app.call<{ url: string }>('GET', `${recorded.path}/live-view`)
  const given = new URL(body.url)
  const denied = { status: 403, body: expect.stringContaining('no longer valid') }
  const valid = `${given.pathname}${given.search}`
  expect(await app.call('GET', valid)).toMatchObject({
    status: 200,
    body: expect.stringContaining('<!doctype html>'),
  })
  for (const part of ['', '/events']) {
    expect(await app.call('GET', `/replay/${id}${part}${given.search}`)).toMatchObject(denied)
    expect(await app.call('GET', `/replay/${recorded.id}${part}`)).toMatchObject(denied)
    const foreign = `/replay/${recorded.id}${part}${new URL(watching.url).search}`
    expect(await app.call('GET', foreign)).toMatchObject(denied)
  }
  const { secretBox, clock } = app.service.infrastructure
  const links = createLiveLinks({
    secret: secretBox.derive(['links to browser sessions']),
    origin: () => '',
    clock,
  })
  for (const [part, expiresAt, status] of [
    ['', 1, 403],
    ['/events', 1, 403],
    ['', undefined, 404],
    ['/events', undefined, 404],
  ] as const) {
    const link = await links.make({ sessionId: id, right: 'replay' }, expiresAt)
    const answer = await app.call('GET', link.url.replace('?', `${part}?`))
    expect(answer).toMatchObject({ status, body: expect.stringMatching(/no longer/) })
  }
})

it('holds no password, code or card, however the page shows them', async () => {
  const { id, path: own, session } = await openSession(app, { record: true })
  const secrets = ['correct-horse-9', '736251', '4242424242424242']
  await act(own, { action: 'navigate', url: `${site.url}/login` })
  for (const [at, selector] of ['#password', '#code', '#card'].entries())
    await act(own, { action: 'type', selector, text: secrets[at] })
  await act(own, { action: 'click', selector: 'text=Show' })
  expect(await (await session.page()).locator('#echo').innerText()).toBe(secrets[0])
  await end(id)
  const { events } = await recordingOf(own)
  expect(JSON.stringify(events)).toContain('********')
  const stored = await app.service.infrastructure.agentDatabases.use('default', ({ db }) =>
    db.selectFrom('browser_recording_pieces').select('events').where('session_id', '=', id).execute(),
  )
  const text = stored.map(piece => gunzipSync(piece.events).toString()).join()
  for (const secret of secrets) expect(text).not.toContain(secret)
})

it('pauses during a takeover, which it marks, and goes on with a snapshot', async () => {
  const { id, path: own, session } = await openSession(app, { record: true })
  await act(own, { action: 'navigate', url: `${site.url}/` })
  await app.call('POST', `${own}/takeover`, { body: { reason: 'Sign in, please' } })
  const page = await session.page()
  await page.locator('h1').evaluate(`(heading) => { heading.textContent = 'In private' }`)
  await page.goto(`${site.url}/pay`)
  await page.goto(`${site.url}/`)
  await app.call('POST', `${own}/takeover/end`, { body: { note: 'Done' } })
  await act(own, { action: 'click', selector: 'button' })
  await eventually(async () => expect(JSON.stringify(await recordingOf(own))).toContain('Empty pear'))
  await end(id)
  const recording = await recordingOf(own)
  expect(marksOf(recording)).toMatchObject([
    { tag: 'action', action: 'navigate' },
    { tag: 'takeover', state: 'began', reason: 'Sign in, please' },
    { tag: 'takeover', state: 'ended', outcome: 'handed_back', note: 'Done' },
    { tag: 'action', action: 'click' },
  ])
  expect(addressesOf(recording).slice(-2)).toEqual([`${site.url}/`, `${site.url}/`])
  expect(JSON.stringify(recording)).not.toContain('In private')
})

it('nothing of a hostile page runs, loads or leads elsewhere in the replay', async () => {
  let connections = 0
  const canary = createServer(socket => {
    connections += 1
    socket.destroy()
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void canary.close())
  await once(canary, 'listening')
  const there = `http://127.0.0.1:${(canary.address() as AddressInfo).port}`
  const hostile = await startSite(sitePages({ '/': hostilePage(there) }))
  onTestFinished(() => hostile[Symbol.asyncDispose]())
  const { id, path: own, session } = await openSession(app, { record: true })
  await act(own, { action: 'navigate', url: `${hostile.url}/` })
  expect(await (await session.page()).evaluate('hacked')).toBe(true)
  await eventually(async () => expect(JSON.stringify(await recordingOf(own))).toContain('Added later'))
  await end(id)
  expect(connections).toBeGreaterThan(0)
  const page = await openReplay(own)
  const [before, asked] = [connections, hostile.requests.length]
  const opened: string[] = []
  page.context().on('page', one => void opened.push(one.url()))
  page.on('dialog', dialog => void opened.push(dialog.message()))
  await page.locator('#position').focus()
  await page.keyboard.press('End')
  await eventually(async () => expect(await textOf(page)).toContain('Added later'))
  const stage = await page.locator('#stage').boundingBox()
  for (const y of [20, 60, 100]) await page.mouse.click((stage?.x ?? 0) + 30, (stage?.y ?? 0) + y)
  // Also what no click can reach does nothing.
  await page.evaluate(`(() => {
    const { contentDocument: shown } = document.querySelector('iframe')
    for (const element of shown.querySelectorAll('a, button, form, input, img')) element.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true }))
    for (const form of shown.querySelectorAll('form')) form.requestSubmit()
  })()`)
  await page.locator('#play').click()
  await eventually(async () => expect(await page.locator('#play').innerText()).toBe('Play'))
  await eventually(async () => expect(await textOf(page)).toContain('Added later'))
  expect(
    await page.evaluate(
      `[typeof hacked, typeof document.querySelector('iframe').contentWindow.hacked, location.pathname, document.querySelector('iframe').getAttribute('sandbox')]`,
    ),
  ).toEqual(['undefined', 'undefined', `/replay/${id}`, 'allow-same-origin'])
  expect([connections - before, hostile.requests.length - asked, opened]).toEqual([0, 0, []])
})

function hostilePage(there: string): string {
  return `<!doctype html><html><head><title>Hostile</title>
    <base href="${there}/base/"><link rel="preconnect" href="${there}"><link rel="prefetch" href="${there}/prefetch">
    <link rel="stylesheet" href="${there}/style.css"><link rel="icon" href="${there}/icon">
    <meta http-equiv="refresh" content="3600; url=${there}/refresh"><meta http-equiv="Content-Security-Policy" content="img-src *">
    <style>@import url(${there}/import.css); @font-face { font-family: f; src: url(${there}/font) } body { background: url(${there}/background); font-family: f }</style>
    </head><body onload="hacked = true"><script>var hacked = true; top.hacked = true</script>
    <a href="javascript:top.hacked = true">Run</a> <a href="${there}/link">Leave</a> <a href="${there}/top" target="_top">Top</a>
    <a href="${there}/new" target="_blank" ping="${there}/ping">New</a> <a href="data:text/html,<script>top.hacked = true</script>">Data</a>
    <form action="${there}/form"><button onclick="top.hacked = true">Send</button><input type="image" src="${there}/button" alt="x"></form>
    <img src="${there}/image" srcset="${there}/set 2x" onerror="hacked = true" alt=""><svg><image href="${there}/svg"/><use href="${there}/use#x"/><a href="javascript:top.hacked = true"><text y="9">S</text></a></svg>
    <video src="${there}/video" poster="${there}/poster" autoplay></video><audio src="${there}/audio" autoplay></audio>
    <object data="${there}/object"></object><embed src="${there}/embed">
    <iframe src="${there}/frame"></iframe><iframe srcdoc="<img src=${there}/inner><script>top.hacked = true</script>"></iframe>
    <script>setTimeout(() => { document.body.insertAdjacentHTML('beforeend', '<p onclick="hacked = true">Added later</p><link rel=preconnect href=${there}><img src=${there}/later onerror="top.hacked = true"><iframe src="javascript:top.hacked = true"></iframe>') }, 100)</script></body></html>`
}

it('is sent to whoever watches, from a snapshot on, and only while somebody does', async () => {
  const { session, path: own } = await openSession(app)
  const { recordings, stopped } = ownRecordings()
  await act(own, { action: 'navigate', url: `${site.url}/` })
  const watch = () => {
    const all: RrwebEvent[] = []
    return { all, stop: recordings.watch(session, events => void all.push(...JSON.parse(events))) }
  }
  const first = watch()
  await eventually(() => expect(first.all.map(({ type }) => type)).toContain(2))
  const second = watch()
  await eventually(() => expect(second.all.map(({ type }) => type)).toContain(2))
  for (const { all } of [first, second]) expect(all.slice(0, 2).map(({ type }) => type)).toEqual([4, 2])
  await act(own, { action: 'click', selector: 'button' })
  for (const { all } of [first, second])
    await eventually(() => expect(JSON.stringify(all)).toContain('Empty pear'))
  const page = await session.page()
  expect(await page.evaluate('[typeof sendEvents, typeof recorder, typeof rrwebRecord]')).toEqual(
    Array(3).fill('undefined'),
  )
  first.stop()
  second.stop()
  await stopped(session)
  const count = first.all.length
  await act(own, { action: 'click', selector: 'button' })
  expect([first.all.length, second.all.length]).toEqual([count, expect.any(Number)])
  expect((await app.call('GET', own)).body).toMatchObject({ recording: null })
})

describe('limits', () => {
  it('of a page: one that is too large is not recorded, and the next one is', async () => {
    const { path: own, session } = await openSession(app)
    const { recordings } = ownRecordings()
    const all: RrwebEvent[] = []
    onTestFinished(recordings.watch(session, events => void all.push(...JSON.parse(events))))
    const page = await session.page()
    await page.goto(`${site.url}/`)
    await eventually(() => expect(JSON.stringify(all)).toContain('Pear'))
    await page.goto(`${site.url}/large`)
    await eventually(() => expect(all.at(-1)).toMatchObject({ type: 5, data: { tag: 'too_large' } }))
    await act(own, { action: 'navigate', url: `${site.url}/pay` })
    await eventually(() => expect(JSON.stringify(all)).toContain('Again'))
    expect(JSON.stringify(all).length).toBeLessThan(100_000)
  })

  it('of the number of sessions: the recording of one that is listed no longer goes with it', async () => {
    const agentId = await makeAgent(app)
    const { agentDatabases } = app.service.infrastructure
    const idOf = (count: number) => `${agentId}.${String(count).padStart(4, '0')}`
    await agentDatabases.use(agentId, async ({ db }) => {
      const rest = {
        status: 'closed',
        headless: 1,
        viewport_width: 800,
        viewport_height: 600,
        user_agent: 'x',
        instance_id: 'x',
        last_activity: '2020-01-01',
      }
      for (let count = 0; count < 1001; count += 1)
        await db
          .insertInto('browser_sessions')
          .values({ ...rest, id: idOf(count), created_at: new Date(count).toISOString() })
          .execute()
      for (const session_id of [idOf(0), idOf(1)]) {
        await db
          .insertInto('browser_recordings')
          .values({ session_id, size: 1, started_at: 'x', ended_at: 'x' })
          .execute()
        await db
          .insertInto('browser_recording_pieces')
          .values({ session_id, number: 0, events: Buffer.from('x') })
          .execute()
      }
    })
    await openSession(app, { agentId })
    const left = await agentDatabases.use(agentId, ({ db }) =>
      Promise.all([
        db.selectFrom('browser_recordings').select('session_id').execute(),
        db.selectFrom('browser_recording_pieces').select('session_id').execute(),
      ]),
    )
    expect(left).toEqual([[{ session_id: idOf(1) }], [{ session_id: idOf(1) }]])
  })

  it('end the recording of a session, and say so; of an agent they keep the newest', async () => {
    const agentId = await makeAgent(app)
    const { recordings } = ownRecordings({ ofSession: 30_000, ofAgent: 50_000 })
    const made: string[] = []
    await app.service.infrastructure.agentDatabases.use(agentId, async agent => {
      for (let count = 0; count < 3; count += 1) {
        const { id, path: own, session } = await openSession(app, { agentId })
        made.push(own)
        await recordings.record(agent, session)
        const page = await session.page()
        await page.goto(`${site.url}/`)
        await page.evaluate(
          `setInterval(() => { basket.textContent = 'x'.repeat(60_000) + Array.from({ length: 90 }, () => Math.random()).join() }, 20)`,
        )
        await eventually(async () =>
          expect(JSON.stringify((await app.call('GET', `${own}/recording`)).body)).toContain(
            'recording_stopped',
          ),
        )
        await recordings.finish(session)
        await app.call('DELETE', `/api/agents/${agentId}/browser?id=${id}`)
      }
    })
    const kept = await Promise.all(
      made.map(
        async own => (await app.call<{ recording: { size: number } | null }>('GET', own)).body.recording,
      ),
    )
    const sizes = kept.map(recording => recording?.size ?? 0)
    expect(sizes[0]).toBe(0)
    expect(sizes[2]).toBeGreaterThan(1000)
    expect(Math.max(...sizes)).toBeLessThan(31_000)
    expect((sizes[1] ?? 0) + (sizes[2] ?? 0)).toBeLessThanOrEqual(50_000)
  })

  it('of time: a recording goes after 30 days, and its session stays listed', async () => {
    const clock = manualClock()
    const later = await testApp({ environment, clock })
    const { id, path: own } = await openSession(later, { record: true })
    await later.call('DELETE', `${path}?id=${id}`)
    const statusOf = async () => (await later.call('GET', `${own}/recording`)).status
    await passTime(later, clock, 29 * 86_400_000)
    expect(await statusOf()).toBe(200)
    await passTime(later, clock, 86_400_000)
    await eventually(async () => expect(await statusOf()).toBe(404))
    expect((await later.call('GET', own)).body).toMatchObject({ status: 'closed', recording: null })
  })
})

/** What the service has, with limits of the test. */
function ownRecordings(limits?: RecordingLimits) {
  const { transact, clock, log } = app.service.infrastructure
  const recordings = createRecordings({ transact, clock, log, ...(limits && { limits }) })
  return { recordings, stopped: async (session: BrowserSession) => recordings.finish(session) }
}
