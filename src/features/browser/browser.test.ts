import { spawnSync } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { errorRow, limitRow, row } from '#test/spec/row.ts'
import { makeAgent } from '#test/support/agents.ts'
import { browserProcesses, mainProcesses, openSession } from '#test/support/browser-stage.ts'
import { buildApp, type TestApp, testApp } from '#test/support/build-app.ts'
import { eventually } from '#test/support/eventually.ts'
import { type ManualClock, manualClock } from '#test/support/manual-clock.ts'
import { type Site, sitePages, startSite } from '#test/support/site-server.ts'
import { temporaryDirectory } from '#test/support/temporary-directory.ts'

const environment = {
  DEV_USER: 'dev@example.com',
  OUTBOUND_ALLOW: '127.0.0.1',
  BROWSER_MAX_SESSIONS_PER_AGENT: '3',
  BROWSER_MAX_SESSIONS: '4',
  ENCRYPTION_KEY: Buffer.alloc(32, 'k').toString('base64'),
}
const path = '/api/agents/default/browser'

let app: TestApp
let clock: ManualClock
let site: Site

beforeAll(async () => {
  clock = manualClock()
  app = await buildApp({ environment, clock })
  site = await startSite(sitePages({ '/': '<title>Shop</title><h1>Shop</h1>', '/other': 'Other' }))
})

afterAll(async () => {
  await app.close()
  await site[Symbol.asyncDispose]()
})

async function statusOf(id: string, agentPath = path): Promise<string> {
  return (await app.call<{ status: string }>('GET', `${agentPath}/${id}`)).body.status
}

describe('a session', () => {
  it(`${row('POST /api/agents/{id}/browser')} ${row('GET /api/agents/{id}/browser')} ${row('DELETE /api/agents/{id}/browser?id={sessionId}')} is opened, listed, and stays listed when it is ended`, async () => {
    const viewport = { width: 800, height: 600 }
    const created = await app.call<{ id: string }>('POST', path, { body: { viewport } })
    expect(created).toMatchObject({
      status: 201,
      body: {
        status: 'active',
        live_view_url: expect.stringMatching(/^http:/),
        created_at: expect.any(String),
      },
    })
    const { id } = created.body
    const listed = { id, status: 'active', headless: true, viewport }
    const list = await app.call('GET', `${path}?search=${id}`)
    expect(list).toMatchObject({ status: 200, body: { sessions: [listed], meta: { total: 1 } } })
    expect(await app.call('GET', `${path}/${id}`)).toMatchObject({ status: 200, body: listed })
    expect(await app.call('DELETE', `${path}?id=${id}`)).toMatchObject({
      status: 200,
      body: { success: true },
    })
    expect((await app.call('DELETE', `${path}?id=${id}`)).status).toBe(200)
    expect(await statusOf(id)).toBe('closed')
  })

  it(`${errorRow('browser', 404)} that does not exist is not found`, async () => {
    expect(await app.call('GET', `${path}/nowhere`)).toMatchObject({ status: 404 })
    expect(await app.call('DELETE', `${path}?id=nowhere`)).toMatchObject({ status: 404 })
  })

  it.each([
    ['viewport/width', { viewport: { width: 0, height: 600 } }],
    ['viewport/height', { viewport: { width: 800, height: 60_000 } }],
    ['viewport/height', { viewport: { width: 800 } }],
    ['user_agent', { user_agent: 'Line\nbreak' }],
    ['profile', { profile: '../shop' }],
  ])('is refused with a wrong %s: %j', async (field, body) => {
    const answer = await app.call('POST', path, { body })
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'VALIDATION_ERROR' } } })
    expect(JSON.stringify(answer.body)).toContain(field.split('/').at(-1))
  })

  it('with a window needs a browser and a display of the operator', async () => {
    const answer = await app.call('POST', path, { body: { headless: false } })
    const message = expect.stringMatching(/CHROMIUM_PATH.*DISPLAY/)
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { message, details: { field: 'headless' } } },
    })
  })

  it('has the viewport and the user agent that were asked for, in every tab and hint', async () => {
    const user_agent =
      'Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 Chrome/150.0.1.2 Mobile Safari/537.36'
    const { session } = await openSession(app, { viewport: { width: 411, height: 731 }, user_agent })
    const page = await session.page()
    await page.goto(site.url)
    const told = await page.evaluate<{ brands: object[] }>(
      '({ size: [innerWidth, innerHeight], agent: navigator.userAgent, ...navigator.userAgentData.toJSON() })',
    )
    expect(told).toMatchObject({ size: [411, 731], agent: user_agent, mobile: true })
    expect(told.brands).toContainEqual({ brand: 'Chromium', version: '150' })
    expect(site.requests.at(-1)?.headers['user-agent']).toBe(user_agent)
    await page.evaluate(`void open('/other')`)
    await eventually(() => expect(session.tabs).toHaveLength(2))
    expect(await session.activeTab?.page.evaluate('navigator.userAgent')).toBe(user_agent)
  })

  it('looks like a usual browser unless told otherwise', async () => {
    const { session, path: own } = await openSession(app)
    const page = await session.page()
    await page.goto(site.url)
    const told = await page.evaluate<unknown[]>(
      '[navigator.userAgent, navigator.language, navigator.webdriver, JSON.stringify(navigator.userAgentData)]',
    )
    expect(told.join()).not.toContain('Headless')
    expect(told.slice(0, 3)).toEqual([expect.stringContaining('Chrome/153.0.0.0'), 'en-US', false])
    expect((await app.call('GET', own)).body).toMatchObject({ user_agent: told[0] })
  })

  it('that nobody has used for 10 minutes ends, and one that is used goes on', async () => {
    const [idle, used] = [await openSession(app), await openSession(app)]
    clock.advance(9 * 60_000)
    await used.session.inTurn(async () => {})
    clock.advance(60_000)
    await eventually(async () => expect(await statusOf(idle.id)).toBe('closed'))
    expect(await statusOf(used.id)).toBe('active')
    const { body } = await app.call<{ last_activity: string }>('GET', used.path)
    expect(Date.parse(body.last_activity)).toBe(clock.now() - 60_000)
  })

  it(`${errorRow('browser', 429)} is one of so many of an agent and of the server, and a place is free again after its end`, async () => {
    const agentId = await makeAgent(app)
    const made = [await openSession(app), await openSession(app), await openSession(app)]
    const tooMany = { status: 429, body: { error: { code: 'TOO_MANY_SESSIONS' } } }
    expect(await app.call('POST', path, { body: {} })).toMatchObject(tooMany)
    await openSession(app, { agentId })
    expect(await app.call('POST', `/api/agents/${agentId}/browser`, { body: {} })).toMatchObject(tooMany)
    expect((await app.call('DELETE', `${path}?id=${made[0]?.id}`)).status).toBe(200)
    await openSession(app)
  })

  it('sees nothing of another one, and agents have browsers of their own', async () => {
    const agentId = await makeAgent(app)
    const sessions = [await openSession(app), await openSession(app), await openSession(app, { agentId })]
    const stored = []
    for (const { session } of sessions) {
      const page = await session.page()
      await page.goto(site.url)
      stored.push(await page.evaluate('document.cookie + localStorage.length'))
      await page.evaluate(`document.cookie = 'a=b; max-age=1000'; localStorage.setItem('a', 'b')`)
    }
    expect(stored).toEqual(['0', '0', '0'])
    const [one, another, others] = sessions.map(({ session }) => session.context.browser())
    expect([another === one, others === one]).toEqual([true, false])
  })
})

describe('a crash', () => {
  it('of a tab is survived by a new tab', async () => {
    const { session, id } = await openSession(app)
    const before = session.activeTab
    await before?.page.goto('chrome://crash').catch(() => {})
    await eventually(() => expect(session.activeTab?.pageId).not.toBe(before?.pageId ?? ''))
    const page = await session.page()
    await page.goto(site.url)
    expect(await page.title()).toBe('Shop')
    expect([await statusOf(id), session.tabs.length]).toEqual(['active', 1])
  })

  it(`${errorRow('browser', 500)} of the browser ends its sessions in error, and the next session has a new one`, async () => {
    const agentId = await makeAgent(app)
    const { id } = await openSession(app, { agentId })
    for (const { pid } of mainProcesses()) process.kill(pid, 'SIGKILL')
    await eventually(async () => expect(await statusOf(id, `/api/agents/${agentId}/browser`)).toBe('error'))
    const { session } = await openSession(app, { agentId })
    await (await session.page()).goto(site.url)
  })
})

it('the end of the service closes its sessions, and leaves no process', async () => {
  const dataDirectory = temporaryDirectory()
  const first = await buildApp({ environment, dataDirectory })
  const { body } = await first.call<{ id: string }>('POST', path, { body: {} })
  await first.close()
  const second = await testApp({ environment, dataDirectory })
  expect((await second.call('GET', `${path}/${body.id}`)).body).toMatchObject({ status: 'closed' })
})

it('the deletion of an agent ends its browser', async () => {
  const agentId = await makeAgent(app)
  const { session } = await openSession(app, { agentId })
  expect((await app.call('DELETE', `/api/agents/${agentId}`)).status).toBe(200)
  await eventually(() => expect(session.status).toBe('closed'))
})

it('the browser knows nothing of the secrets of the service, and can read none of its data', async () => {
  await openSession(app)
  const all = browserProcesses()
  expect(all.length).toBeGreaterThan(2)
  for (const { commandLine, environment: theirs } of all)
    for (const secret of [environment.ENCRYPTION_KEY, app.dataDirectory, 'DEV_USER'])
      expect(`${commandLine} ${theirs}`).not.toContain(secret)
  const users = new Set(all.map(({ user }) => user))
  expect([...users]).toEqual([process.getuid?.() === 0 ? 64_000 : process.getuid?.()])
})

it.skipIf(process.getuid?.() !== 0)(
  'the user of the browser can read nothing in the data directory, also where all may enter that (needs root)',
  async () => {
    const dataDirectory = temporaryDirectory()
    chmodSync(dataDirectory, 0o755)
    const open = await testApp({ environment, dataDirectory })
    await openSession(open)
    const asBrowser = { uid: 64_000, gid: 64_000, encoding: 'utf8' } as const
    const found = spawnSync('find', [dataDirectory, '-type', 'f', '-readable'], asBrowser).stdout.split('\n')
    expect(found.filter(file => file !== '' && !file.startsWith(join(dataDirectory, 'chromium')))).toEqual([])
  },
)

it(`${limitRow('rate-limit-browser')} counts calls for browsers`, async () => {
  const limited = await testApp({ environment: { RATE_LIMIT_BROWSER: '1' } })
  expect((await limited.call('GET', path)).headers).toMatchObject({ 'x-ratelimit-limit': '1' })
  const refused = await limited.call('GET', path)
  expect(refused.status).toBe(429)
  expect(JSON.stringify(refused.body)).toMatch(/`actions` counts once; RATE_LIMIT_BROWSER/)
})
