import { afterAll, beforeAll, expect, it } from 'vitest'
import { row } from '#test/spec/row.ts'
import { makeAgent } from '#test/support/agents.ts'
import { openSession } from '#test/support/browser-stage.ts'
import type { TestApp } from '#test/support/build-app.ts'
import { buildApp } from '#test/support/build-app.ts'
import { eventually } from '#test/support/eventually.ts'
import type { ManualClock } from '#test/support/manual-clock.ts'
import { manualClock } from '#test/support/manual-clock.ts'
import type { Site } from '#test/support/site-server.ts'
import { startSite } from '#test/support/site-server.ts'
import { makeTemporaryDirectory } from '#test/support/temporary-directory.ts'

const environment = { DEV_USER: 'dev@example.com', OUTBOUND_ALLOW: '127.0.0.1' }
const path = '/api/agents/default/browser'
const profiles = `${path}/profiles`
const secret = 'c29tZSBsb2dpbg'

let app: TestApp
let clock: ManualClock
let site: Site
const directory = makeTemporaryDirectory()

beforeAll(async () => {
  clock = manualClock()
  app = await buildApp({ environment, clock, dataDirectory: directory.path })
  site = await startSite(({ path: asked, headers }) =>
    asked === '/login'
      ? { headers: { 'set-cookie': `login=${secret}; Max-Age=86400; HttpOnly` }, body: 'In' }
      : `<title>${headers.cookie ?? 'nobody'}</title>`,
  )
})

afterAll(async () => {
  await app.close()
  await site[Symbol.asyncDispose]()
  directory.remove()
})

const stored = `new Promise(done => {
  const opening = indexedDB.open('notes', 1)
  opening.onupgradeneeded = () => opening.result.createObjectStore('notes')
  opening.onsuccess = () => {
    const store = opening.result.transaction('notes', 'readwrite').objectStore('notes')
    const asked = store.get('first')
    asked.onsuccess = () => done([localStorage.getItem('cart'), asked.result ?? null])
  }
})`

/** Who the site takes the session for, and what it has stored there. */
async function stateIn({ session }: Awaited<ReturnType<typeof openSession>>) {
  const page = await session.page()
  await page.goto(site.url)
  return [await page.title(), await page.evaluate(stored)]
}

async function logIn({ session }: Awaited<ReturnType<typeof openSession>>): Promise<void> {
  const page = await session.page()
  await page.goto(`${site.url}/login`)
  await page.evaluate(`${stored}.then(() => new Promise(done => {
    localStorage.setItem('cart', 'tea')
    const opening = indexedDB.open('notes', 1)
    opening.onsuccess = () => {
      const changing = opening.result.transaction('notes', 'readwrite')
      changing.objectStore('notes').put('remember', 'first')
      changing.oncomplete = () => done()
    }
  }))`)
}

const loggedIn = [`login=${secret}`, ['tea', 'remember']]
const nobody = ['nobody', [null, null]]

it('a login made in one session is there in the next with that profile, also after a restart, and nowhere else', async () => {
  const first = await openSession(app, { profile: 'shop' })
  await logIn(first)
  expect((await app.call('DELETE', `${path}?id=${first.id}`)).status).toBe(200)
  expect(await stateIn(await openSession(app, { profile: 'shop' }))).toEqual(loggedIn)
  await app.close()
  app = await buildApp({ environment, clock, dataDirectory: directory.path })
  const again = await openSession(app, { profile: 'shop' })
  expect(await stateIn(again)).toEqual(loggedIn)
  expect(await stateIn(await openSession(app))).toEqual(nobody)
  expect(await stateIn(await openSession(app, { profile: 'other' }))).toEqual(nobody)
  const agentId = await makeAgent(app)
  expect(await stateIn(await openSession(app, { agentId, profile: 'shop' }))).toEqual(nobody)
})

it('is listed without its content, which is sealed', async () => {
  const { body } = await app.call<{ profiles: object[] }>('GET', profiles)
  expect(body).toMatchObject({
    profiles: [{ name: 'other' }, { name: 'shop', note: null }],
    meta: { total: 2 },
  })
  expect(JSON.stringify(body)).not.toContain(secret)
  const { platform, agentDatabases } = app.service.infrastructure
  const rows = [
    await platform.selectFrom('agent_secrets').selectAll().execute(),
    await agentDatabases.use('default', ({ db }) => db.selectFrom('browser_profiles').selectAll().execute()),
  ]
  expect(JSON.stringify(rows)).not.toContain(secret)
  expect(app.logged.join()).not.toContain(secret)
})

it('belongs to one session at a time, and is forgotten when nobody has it', async () => {
  const { id } = await openSession(app, { profile: 'shop' })
  const conflict = {
    status: 409,
    body: { error: { code: 'CONFLICT', message: expect.stringContaining('"shop"') } },
  }
  expect(await app.call('POST', path, { body: { profile: 'shop' } })).toMatchObject(conflict)
  expect(await app.call('DELETE', `${profiles}/shop`)).toMatchObject(conflict)
  await app.call('DELETE', `${path}?id=${id}`)
  expect(await app.call('DELETE', `${profiles}/shop`)).toMatchObject({ status: 200, body: { success: true } })
  expect(await app.call('DELETE', `${profiles}/shop`)).toMatchObject({ status: 404 })
  expect(await stateIn(await openSession(app, { profile: 'shop' }))).toEqual(nobody)
})

it('is saved while its session goes on, so that a crash loses little', async () => {
  const opened = await openSession(app, { profile: 'kept' })
  await logIn(opened)
  clock.advance(5 * 60_000)
  const sizes = async () =>
    (await app.call<{ profiles: { size: number }[] }>('GET', `${profiles}?search=kept`)).body
  await eventually(async () => expect((await sizes()).profiles[0]?.size).toBeGreaterThan(100))
})

it(`${row('POST /api/agents/{id}/browser')} too large a profile is kept without IndexedDB, or as it was, and that is said`, async () => {
  const { session, id } = await openSession(app, { profile: 'large' })
  const page = await session.page()
  await page.goto(site.url)
  await page.evaluate(`new Promise(done => {
    const opening = indexedDB.open('large', 1)
    opening.onupgradeneeded = () => opening.result.createObjectStore('large').put('x'.repeat(6e6), 'x')
    opening.onsuccess = done
  }).then(() => localStorage.setItem('a', 'b'))`)
  await app.call('DELETE', `${path}?id=${id}`)
  const { body } = await app.call<{ profiles: object[] }>('GET', `${profiles}?search=large`)
  expect(body.profiles).toMatchObject([
    { name: 'large', note: expect.stringMatching(/^Without IndexedDB: /) },
  ])
})

it('the setting for the profile of chat takes names of profiles only', async () => {
  const settings = '/api/agents/default/settings'
  expect(await app.call('PUT', settings, { body: { browser_profile: 'shop' } })).toMatchObject({
    status: 200,
  })
  expect((await app.call('PUT', settings, { body: { browser_profile: '../x' } })).status).toBe(400)
})
