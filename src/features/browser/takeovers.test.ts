import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { errorRow, row } from '#test/spec/row.ts'
import { openSession } from '#test/support/browser-stage.ts'
import type { Answer } from '#test/support/build-app.ts'
import {
  type CastMessage,
  type Channel,
  clicks,
  openChannel,
  presses,
  specificationShape,
  types,
} from '#test/support/cast-client.ts'
import { type ChatStage, setChatStage } from '#test/support/chat-stage.ts'
import { eventually } from '#test/support/eventually.ts'
import { openaiText, openaiToolCall } from '#test/support/model-server.ts'
import { openStream } from '#test/support/open-stream.ts'
import { type Site, startSite } from '#test/support/site-server.ts'
import { startWebhookReceiver } from '#test/support/webhook-receiver.ts'
import { workflowCalls } from '#test/support/workflows.ts'
import { Takeover } from './sessions/takeover.ts'

const shape = specificationShape
const login = `<title>Login</title><style>body { margin: 0 } * { position: absolute }</style>
  <form action="/done"><input name="user" style="left: 100px; top: 100px">
  <input name="password" type="password" style="left: 100px; top: 200px">
  <input name="code" autocomplete="one-time-code" style="left: 100px; top: 300px">
  <button style="left: 100px; top: 400px; width: 100px; height: 40px">Sign in</button></form>`

/** What answers the request for `/slow`, once that has come. */
const slow = Promise.withResolvers<(page: string) => void>()

let stage: ChatStage
let origin: string
let site: Site

beforeAll(async () => {
  stage = await setChatStage({ environment: { OUTBOUND_ALLOW: '127.0.0.1' } })
  origin = await stage.app.listen()
  site = await startSite(request => {
    const [path] = request.path.split('?')
    if (path === '/slow') return new Promise(resolve => slow.resolve(resolve))
    return { '/': login, '/done': '<title>Done</title>Welcome, Ada' }[path ?? '']
  })
})

afterAll(async () => {
  await stage[Symbol.asyncDispose]()
  await site[Symbol.asyncDispose]()
})

interface Requested {
  takeover_id: string
  takeover_url: string
  status: string
  expires_at: string
}

/** A session that shows the form, and what is done with its takeovers over HTTP. */
async function openLogin() {
  const { app } = stage
  const { id, path, session } = await openSession(app)
  const page = await session.page()
  await page.goto(`${site.url}/`)
  return {
    id,
    path,
    session,
    page,
    request: (body: object = { reason: 'Sign in, please', timeout: 300 }): Promise<Answer<Requested>> =>
      app.call<Requested>('POST', `${path}/takeover`, { body }),
    current: () => app.call<Record<string, unknown>>('GET', `${path}/takeover`),
    end: (body: object = {}) => app.call('POST', `${path}/takeover/end`, { body }),
    act: (action: object) =>
      app.call<{ result: Record<string, unknown> }>('POST', `${path}/execute`, { body: action }),
    status: async () => (await app.call<{ status: string }>('GET', path)).body.status,
    cast: (parameters: Record<string, string> = {}) => castOf(id, parameters),
    drive: (url: string, client = '') => castOf(id, { token: tokenOf(url), client }),
  }
}

async function castOf(sessionId: string, parameters: Record<string, string>): Promise<Channel> {
  const query = new URLSearchParams({ sessionId, ...parameters })
  const channel = await openChannel(origin, `/v1/sessions/cast?${query}`)
  onTestFinished(() => channel[Symbol.asyncDispose]())
  return channel
}

const tokenOf = (url: string) => new URL(url).searchParams.get('token') ?? ''
const isFrame = ({ type, data }: CastMessage) => type === undefined && data !== undefined
const isDriven = ({ takeover }: CastMessage) => typeof takeover?.driver === 'string'

function sendAll(channel: Channel, messages: readonly object[]): void {
  for (const message of messages) channel.send(message)
}

const clickAt = (y: number) => clicks(shape, { x: 110, y })

describe(`${row('POST /api/agents/{id}/browser/{sessionId}/takeover')} a takeover`, () => {
  it(`${errorRow('browser', 409)} makes the session a person's, who drives and hands the same page back`, async () => {
    const { request, current, end, act, status, drive, page } = await openLogin()
    const answer = await request()
    expect(answer).toMatchObject({
      status: 201,
      body: {
        takeover_id: expect.any(String),
        status: 'pending',
        takeover_url: expect.stringContaining('/live/'),
      },
    })
    const { takeover_id, takeover_url, expires_at } = answer.body
    expect(Math.abs(Date.parse(expires_at) - Date.now() - 300_000)).toBeLessThan(60_000)
    expect(await status()).toBe('takeover')
    expect(await act({ action: 'click', selector: 'button' })).toMatchObject({ status: 409 })
    expect(await request()).toMatchObject({ status: 409 })
    expect((await current()).body).toMatchObject({
      takeover_id,
      status: 'pending',
      driver: null,
      reason: 'Sign in, please',
    })
    const person = await drive(takeover_url)
    expect(await person.next(isDriven)).toMatchObject({ may_drive: true, takeover: { is_driver: true } })
    expect((await current()).body).toMatchObject({ status: 'active', requested_by: 'dev@example.com' })
    sendAll(person, [...clickAt(110), ...types(shape, 'Ada')])
    await eventually(async () => expect(await page.inputValue('[name=user]')).toBe('Ada'))
    person.send({ type: 'handBack', note: 'Half done' })
    await eventually(async () => expect(await status()).toBe('active'))
    expect(await person.closed).toMatchObject({ code: 4403 })
    expect(await act({ action: 'extract', selector: '[name=user]', attribute: 'name' })).toMatchObject({
      status: 200,
    })
    expect(await page.inputValue('[name=user]')).toBe('Ada')
    expect(await current()).toMatchObject({ status: 404 })
    expect(await end()).toMatchObject({ status: 404 })
    expect(await (await drive(takeover_url)).closed).toMatchObject({ code: 4403 })
  })

  it('is checked, ends in time or by a call, and with its session', async () => {
    const { id, request, end, status, session, path } = await openLogin()
    expect(await request({ timeout: 300 })).toMatchObject({ status: 400 })
    expect(await request({ reason: 'x', timeout: 3601 })).toMatchObject({ status: 400 })
    expect(await request({ reason: '', timeout: 10 })).toMatchObject({ status: 400 })
    expect(await stage.app.call('POST', `${path}x/takeover`, { body: { reason: 'x' } })).toMatchObject({
      status: 404,
    })
    expect(await request({ reason: 'x', timeout: 1 })).toMatchObject({ status: 201 })
    await eventually(async () => expect(await status()).toBe('active'))
    await request({ reason: 'x' })
    expect(await end({ note: 'Done' })).toMatchObject({ status: 200, body: { success: true } })
    expect(await status()).toBe('active')
    await request({ reason: 'x' })
    const { takeover } = session
    await stage.app.call('DELETE', `/api/agents/default/browser?id=${id}`)
    expect(await takeover?.ended).toMatchObject({ outcome: 'session_ended' })
    expect(await request({ reason: 'x' })).toMatchObject({ status: 409 })
  })

  it('is of one person at a time, who keeps it for 30 s without a connection', async () => {
    const { request, drive, cast, page } = await openLogin()
    const { takeover_url } = (await request()).body
    const first = await drive(takeover_url, 'first')
    await first.next(isDriven)
    const second = await drive(takeover_url, 'second')
    const admin = await cast()
    expect(await second.next(isDriven)).toMatchObject({ takeover: { is_driver: false } })
    for (const other of [second, admin]) {
      sendAll(other, [
        ...clickAt(110),
        ...types(shape, 'no'),
        { type: 'handBack' },
        { type: 'hide', hidden: true },
      ])
      other.send({ type: 'mouseEvent' })
    }
    sendAll(first, [...clickAt(110), ...types(shape, 'yes')])
    await eventually(async () => expect(await page.inputValue('[name=user]')).toBe('yes'))
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    await first[Symbol.asyncDispose]()
    await vi.advanceTimersByTimeAsync(20_000)
    const again = await drive(takeover_url, 'first')
    expect(await again.next(isDriven)).toMatchObject({ takeover: { is_driver: true } })
    await vi.advanceTimersByTimeAsync(60_000)
    expect(second.all.filter(({ takeover }) => takeover?.driver === null)).toEqual([])
    await again[Symbol.asyncDispose]()
    await eventually(async () => {
      await vi.advanceTimersByTimeAsync(10_000)
      expect(second.all.at(-1)?.takeover?.driver).toBeNull()
    })
    // Whoever moves next has it.
    sendAll(admin, clickAt(110))
    await admin.next(({ takeover }) => takeover?.is_driver === true && takeover.driver === 'dev@example.com')
  })

  it('is driven by who opens the link again after it was closed, not by others who had it open', async () => {
    const { request, drive, cast } = await openLogin()
    const { takeover_url } = (await request()).body
    const first = await drive(takeover_url, 'first')
    await first.next(isDriven)
    const [other, admin] = [await drive(takeover_url, 'other'), await cast()]
    // A channel that is open is admitted a moment later.
    for (const channel of [other, admin]) await channel.next(isDriven)
    await first[Symbol.asyncDispose]()
    await eventually(async () => {
      const again = await drive(takeover_url, 'another device')
      const { takeover } = await again.next(isDriven)
      expect(takeover).toMatchObject({ is_driver: true, expires_at: expect.any(String) })
    })
    for (const channel of [other, admin])
      expect(channel.all.some(({ takeover }) => takeover?.is_driver)).toBe(false)
  })

  it('hides the picture from all others while the person wants that', async () => {
    const { request, drive, cast, page } = await openLogin()
    const watcher = await cast()
    await watcher.next(isFrame)
    const person = await drive((await request()).body.takeover_url)
    person.send({ type: 'hide', hidden: true })
    await watcher.next(({ takeover }) => takeover?.hidden === true)
    const list = await watcher.next(({ type }) => type === 'tabList')
    expect(list.tabs).toMatchObject([{ url: '', title: '', favicon: '' }])
    const frames = () => watcher.all.filter(isFrame).length
    const before = frames()
    sendAll(person, [...clickAt(210), ...types(shape, 'secret')])
    await eventually(async () => expect(await page.inputValue('[name=password]')).toBe('secret'))
    const count = person.all.filter(isFrame).length
    sendAll(person, clickAt(310))
    await eventually(() => expect(person.all.filter(isFrame).length).toBeGreaterThan(count))
    const late = await cast()
    await late.next(({ type }) => type === 'status')
    expect([frames(), late.all.filter(isFrame).length]).toEqual([before, 0])
    expect(late.all.find(({ type }) => type === 'tabList')?.tabs).toMatchObject([{ url: '', title: '' }])
    person.send({ type: 'hide', hidden: false })
    await watcher.next(({ tabs }) => tabs?.[0]?.title === 'Login')
    await Promise.all([watcher.next(isFrame), late.next(isFrame)])
  })

  it('stays hidden where it was to be shown and then hidden again', async () => {
    const times = { requestedAt: 0, expiresAt: 1 }
    const takeover = new Takeover({ id: '', reason: '', requestedBy: '', notify: () => {}, ...times })
    const read = Promise.withResolvers<void>()
    await takeover.hide(true, () => read.promise)
    const shown = takeover.hide(false, () => read.promise)
    await takeover.hide(true, () => read.promise)
    read.resolve()
    await shown
    expect(takeover.isHidden).toBe(true)
  })

  it('lets the person answer dialogs, and add time', async () => {
    const { request, current, drive, page, session } = await openLogin()
    const { takeover_url, expires_at } = (await request({ reason: 'x', timeout: 60 })).body
    const person = await drive(takeover_url)
    await person.next(isDriven)
    const asked = page.evaluate('prompt("Your name?", "Ada")')
    expect(await person.next(({ type }) => type === 'dialog')).toMatchObject({
      kind: 'prompt',
      message: 'Your name?',
      defaultValue: 'Ada',
    })
    person.send({ type: 'dialogAnswer', accept: true, text: 'Grace' })
    await person.next(({ type }) => type === 'dialogClosed')
    expect(await asked).toBe('Grace')
    person.send({ type: 'extend', seconds: 600 })
    const { expires_at: later } = (await current()).body
    await eventually(async () =>
      expect(Date.parse(String((await current()).body.expires_at)) - Date.parse(expires_at)).toBe(600_000),
    )
    expect(later).toBeDefined()
    const closing = await session.openTab()
    void closing.page.evaluate('alert("Wait")').catch(() => {})
    await person.next(({ type }) => type === 'dialog')
    person.send({ type: 'closeTab', pageId: closing.pageId })
    await person.next(({ type }) => type === 'dialogClosed')
    const open = page.evaluate('confirm("Leave?")')
    await person.next(({ type }) => type === 'dialog')
    person.send({ type: 'handBack' })
    // What nobody has answered is answered as without a person.
    expect(await open).toBe(false)
  })

  it('is told to webhooks, with the link, and to workflows without it', async () => {
    const workflows = workflowCalls(stage.app)
    const trigger = { type: 'trigger', event: 'browser.takeover_requested' }
    const workflow = await workflows.create({ start: trigger }, [])
    onTestFinished(
      async () => void (await stage.app.call('DELETE', `/api/agents/default/workflows/${workflow}`)),
    )
    const receiver = await startWebhookReceiver()
    onTestFinished(() => receiver[Symbol.asyncDispose]())
    const events = ['browser.takeover_requested']
    const created = await stage.app.call<{ id: string }>('POST', '/api/agents/default/webhooks', {
      body: { url: receiver.url, events },
    })
    onTestFinished(
      async () => void (await stage.app.call('DELETE', `/api/agents/default/webhooks/${created.body.id}`)),
    )
    const { id, request } = await openLogin()
    const { takeover_id, takeover_url } = (await request()).body
    await eventually(() => expect(receiver.received.length).toBe(1))
    expect(JSON.parse(receiver.received[0]?.body ?? '')).toMatchObject({
      type: 'browser.takeover_requested',
      data: {
        session_id: id,
        takeover_id,
        takeover_url,
        reason: 'Sign in, please',
        requested_by: 'dev@example.com',
      },
    })
    const list = `/api/agents/default/workflows/executions?workflow_id=${workflow}`
    const started = () => stage.app.call<{ executions: [{ id: string }] }>('GET', list)
    await eventually(async () => expect((await started()).body.executions.length).toBe(1))
    const { body } = await workflows.get((await started()).body.executions[0].id)
    expect(body.input).toMatchObject({ takeover_id })
    expect(body.input).not.toHaveProperty('takeover_url')
  })
})

/** All that the database of an agent holds, as text. */
async function everyRowOf(agentId: string): Promise<string> {
  return await stage.app.service.infrastructure.agentDatabases.use(agentId, async ({ db }) => {
    const tables = await db.introspection.getTables()
    const read = tables.map(({ name }) => sql`select * from ${sql.table(name)}`.execute(db))
    return JSON.stringify((await Promise.all(read)).map(({ rows }) => rows))
  })
}

describe('a model that asks for a person', () => {
  /** Streams a turn in which the model opens the form, asks, and says what it was told. */
  async function ask() {
    const path = await stage.makeChat({ browser_tools: true })
    const agentPath = path.replace(/\/chat$/, '')
    stage.model.next(
      { stream: openaiToolCall('browser_navigate', { url: `${site.url}/` }) },
      { stream: openaiToolCall('browser_ask_person', { reason: 'Sign in, please' }) },
      ({ messages }) => ({ stream: openaiText(`I was told: ${String(messages.at(-1)?.content)}`) }),
    )
    const stream = await openStream(`${origin}${path}`, { content: 'Sign in.', autoRag: false })
    const requested = (await stream.until('takeover_requested')).at(-1) as unknown as {
      session_id: string
      takeover_url: string
      reason: string
    }
    return { path, agentPath, stream, requested }
  }

  it('waits until the person has signed in, and goes on without having seen what was typed', async () => {
    const { path, agentPath, stream, requested } = await ask()
    const { session_id, takeover_url, reason } = requested
    expect(reason).toBe('Sign in, please')
    expect((await stage.app.call('GET', `${agentPath}/browser/${session_id}/takeover`)).body).toMatchObject({
      requested_by: 'agent',
      reason,
      takeover_url: expect.stringContaining('/live/'),
    })
    const person = await castOf(session_id, { token: tokenOf(takeover_url) })
    const watcher = await castOf(session_id, {})
    const recorded = await openChannel<object[]>(origin, `/v1/sessions/recording?sessionId=${session_id}`)
    onTestFinished(() => recorded[Symbol.asyncDispose]())
    await person.next(isDriven)
    person.send({ type: 'hide', hidden: true })
    await watcher.next(({ takeover }) => takeover?.hidden === true)
    const frames = watcher.all.filter(isFrame).length
    sendAll(person, [...clickAt(110), ...types(shape, 'Ada')])
    sendAll(person, [...clickAt(210), ...types(shape, 'tide-7731-secret')])
    sendAll(person, [...clickAt(310), ...types(shape, '884422')])
    sendAll(person, presses(shape, 'Enter'))
    await person.next(message => isFrame(message) && message.title === 'Done')
    expect(watcher.all.filter(isFrame).length).toBe(frames)
    person.send({ type: 'handBack', note: 'You are signed in.' })
    const events = await stream.rest()
    const result = events.find(({ type }) => type === 'tool_result')?.result
    expect(result).toMatch(
      /The person has handed the browser back.\nTheir note: You are signed in.[\s\S]*Welcome, Ada/,
    )
    expect(events.at(-1)?.type).toBe('message_complete')
    const everything = JSON.stringify([
      stage.app.logged,
      stage.model.questions(),
      await stage.messages(path),
      stream.received().replaceAll(takeover_url, ''),
    ])
    for (const secret of ['tide-7731-secret', '884422', tokenOf(takeover_url)])
      expect(everything.includes(secret)).toBe(false)
    await recorded.next(events => JSON.stringify(events).includes('Welcome, Ada'), 'what was recorded after')
    const kept = [JSON.stringify(recorded.all), await everyRowOf(agentPath.split('/').at(-1) ?? '')]
    for (const text of kept)
      for (const secret of ['tide-7731-secret', '884422']) expect(text.includes(secret)).toBe(false)
  })

  it('is told what the page says after the person, also where the person came while it acted', async () => {
    const path = await stage.makeChat({ browser_tools: true })
    stage.model.next(
      { stream: openaiToolCall('browser_navigate', { url: `${site.url}/slow` }) },
      { stream: openaiText('Done.') },
    )
    const stream = await openStream(`${origin}${path}`, { content: 'Look.', autoRag: false })
    const answer = await slow.promise
    const agentPath = path.replace(/\/chat$/, '')
    const { sessions } = (await stage.app.call<{ sessions: [{ id: string }] }>('GET', `${agentPath}/browser`))
      .body
    const takeoverPath = `${agentPath}/browser/${sessions[0].id}/takeover`
    const { takeover_url } = (
      await stage.app.call<Requested>('POST', takeoverPath, { body: { reason: 'x' } })
    ).body
    answer('<title>Slow</title><p>As the agent left it</p>')
    const person = await castOf(sessions[0].id, { token: tokenOf(takeover_url) })
    await person.next(message => isFrame(message) && message.title === 'Slow')
    person.send({ type: 'navigation', action: 'goto', url: `${site.url}/done` })
    await person.next(message => isFrame(message) && message.title === 'Done')
    person.send({ type: 'handBack' })
    const result = (await stream.rest()).find(({ type }) => type === 'tool_result')?.result
    expect(result).toContain('Welcome, Ada')
    expect(result).not.toContain('As the agent left it')
  })

  it('asks in a new session where the one that a person has ends', async () => {
    const { agentPath, path, stream, requested } = await ask()
    await stage.app.call('POST', `${agentPath}/browser/${requested.session_id}/takeover/end`, { body: {} })
    await stream.rest()
    await stage.app.call('POST', `${agentPath}/browser/${requested.session_id}/takeover`, {
      body: { reason: 'Mine' },
    })
    stage.model.next({ stream: openaiToolCall('browser_ask_person', { reason: 'Again' }) })
    const again = await openStream(`${origin}${path}`, { content: 'Again.', autoRag: false })
    await again.until('tool_call')
    await stage.app.call('DELETE', `${agentPath}/browser?id=${requested.session_id}`)
    const { session_id } = (await again.until('takeover_requested')).at(-1) as { session_id?: string }
    expect(session_id).not.toBe(requested.session_id)
    again.close()
  })

  it('is told that nobody came, and withdraws the request when its turn is aborted', async () => {
    const { stream, requested, agentPath } = await ask()
    const path = `${agentPath}/browser/${requested.session_id}`
    stream.close()
    await eventually(async () =>
      expect(await stage.app.call('GET', `${path}/takeover`)).toMatchObject({ status: 404 }),
    )
    expect((await stage.app.call('GET', path)).body).toMatchObject({ status: 'active' })
  })
})
