import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { giveRole, makeAgent } from '#test/support/agents.ts'
import { type Answer, type TestApp, testApp } from '#test/support/build-app.ts'
import { startGateway } from '#test/support/gateway.ts'
import { readMail, startMailServer } from '#test/support/mail-server.ts'
import { cookieOf, redeem, signInByOperator } from '#test/support/sign-in.ts'

type Headers = Record<string, string>

const day = 24 * 60 * 60_000

/** A service at a time that passes when the test says so. */
async function timedApp(environment: Record<string, string> = {}) {
  const clock = { time: Date.parse('2026-01-01'), now: () => clock.time }
  return { app: await testApp({ environment, clock }), clock }
}

async function firstToken(app: TestApp): Promise<string> {
  const link = (await app.service.firstLink('http://127.0.0.1:8080')) ?? ''
  expect(link).toMatch(/^http:\/\/127\.0\.0\.1:8080\/sign-in#token=[\w-]{43}$/)
  return link.split('=')[1] ?? ''
}

async function signIn(app: TestApp): Promise<Headers> {
  const answer = await redeem(app, await firstToken(app))
  expect(answer).toMatchObject({ status: 200 })
  return cookieOf(answer)
}

async function userOf(app: TestApp, headers: Headers) {
  const { body } = await app.call<{ user: { email: string } | null }>('GET', '/api/auth/me', { headers })
  return body.user?.email
}

it('GET auth/me names the caller, how it is known, and what is open to callers without a user', async () => {
  const gateway = await startGateway()
  onTestFinished(() => gateway.close())
  const behind = await testApp({ environment: { ...gateway.environment, PUBLIC_ACCESS: 'read' } })
  const ada = await gateway.headers('Ada@example.com', { name: 'Ada' })
  const version = expect.stringMatching(/^\d+\.\d+/)
  expect((await behind.call('GET', '/api/auth/me', { headers: ada })).body).toEqual({
    user: { email: 'ada@example.com', name: 'Ada' },
    via: 'gateway',
    public_access: 'read',
    identity_provider: null,
    version,
  })
  expect((await behind.call('GET', '/api/auth/me')).body).toMatchObject({ user: null, via: null })
  expect(await behind.service.firstLink('http://here')).toBeUndefined()
  const alone = await testApp({ environment: { DEV_USER: 'dev@example.com' } })
  const me = (headers = {}) => alone.call('GET', '/api/auth/me', { headers })
  expect((await me()).body).toMatchObject({
    user: { email: 'dev@example.com', name: null },
    via: 'dev_user',
    public_access: 'full',
  })
  expect((await me({ origin: 'https://else.example' })).body).toMatchObject({
    user: null,
    public_access: 'chat',
  })
  expect(await alone.service.firstLink('http://here')).toBeUndefined()
})

describe('the link of an empty service', () => {
  it('signs its owner in once, who manages "default" whatever is public, and creates agents', async () => {
    const environment = { OWNER_EMAIL: 'Ada@example.com', PUBLIC_ACCESS: 'read' }
    const { app } = await timedApp(environment)
    const token = await firstToken(app)
    const answers = await Promise.all(Array.from({ length: 100 }, () => redeem(app, token)))
    const [won, ...others] = answers.filter(({ status }) => status === 200)
    expect(others).toEqual([])
    expect(won?.body).toEqual({ user: { email: 'ada@example.com', name: null } })
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 403]))
    expect(app.logged.join('')).toContain('refused a sign-in: This link was used already')
    const headers = cookieOf(won as Answer)
    expect((await app.call('GET', '/api/auth/me', { headers })).body).toMatchObject({
      user: { email: 'ada@example.com' },
      via: 'session',
    })
    expect(await app.service.firstLink('http://here')).toBeUndefined()
    await makeAgent(app, { headers })
    await giveRole(app, 'default', { email: 'eve@example.com', role: 'admin', headers })
    const settings = { headers, body: { system_prompt: 'Be brief.' } }
    expect((await app.call('PUT', '/api/agents/default/settings', settings)).status).toBe(200)
    expect((await app.call('PUT', '/api/agents/default/settings', { body: settings.body })).status).toBe(403)
    expect((await app.call('DELETE', '/api/agents/default', { headers })).status).toBe(403)
    expect((await app.call('GET', '/api/agents/default/admins', { headers })).body).toMatchObject({
      meta: { total: 2 },
    })
    for (const path of ['', '/default', '/default/admins'])
      expect(JSON.stringify((await app.call('GET', `/api/agents${path}`)).body)).not.toContain('@')
  })

  it('is refused when it is false, old, or sent by a page of another site, which does not use it up', async () => {
    const { app, clock } = await timedApp()
    const token = await firstToken(app)
    for (const foreign of [
      { origin: 'https://else.example' },
      { origin: 'http://localhost:9999' },
      { origin: 'null' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'cross-site' },
    ])
      expect((await redeem(app, token, foreign)).status).toBe(403)
    expect((await redeem(app, `${token.slice(1)}x`)).status).toBe(403)
    clock.time += 15 * 60_000
    expect((await redeem(app, token)).status).toBe(403)
    expect((await redeem(app, await firstToken(app), { origin: 'http://localhost:80' })).status).toBe(200)
  })

  it('is kept by its hash alone, where only the owner of the service can read', async () => {
    const { app } = await timedApp()
    const token = await firstToken(app)
    const { cookie = '' } = cookieOf(await redeem(app, token))
    expect(app.logged.join('')).not.toContain(token)
    expect(app.logged.join('')).not.toContain(cookie.split('=')[1])
    const { platform, isExclusive } = app.service.infrastructure
    const rows = await platform.selectFrom('sessions').selectAll().execute()
    expect(JSON.stringify(rows)).not.toContain(cookie.split('=')[1])
    if (!isExclusive) return
    const folder = join(app.dataDirectory, 'sign-in-links')
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    expect(readdirSync(folder)).toEqual([])
  })
})

describe('the cookie', () => {
  it.each([
    ['our own page', { 'sec-fetch-site': 'same-origin' }, true],
    ['our own origin', { origin: 'http://localhost:80' }, true],
    ['the address bar', { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' }, true],
    ['another port', { origin: 'http://localhost:9999', 'sec-fetch-site': 'same-site' }, false],
    ['another site', { origin: 'https://else.example', 'sec-fetch-site': 'cross-site' }, false],
    ['a sandboxed frame', { origin: 'null', 'sec-fetch-site': 'cross-site' }, false],
    ['an image of another port', { 'sec-fetch-site': 'same-site' }, false],
    ['a page that says that it is ours, over http', { origin: 'http://localhost:80.else.example' }, false],
    ['what names no page', {}, false],
    ['an extension, without a navigation', { 'sec-fetch-site': 'none' }, false],
  ])('of %s counts: %#', async (_who, headers: Headers, counts) => {
    const { app } = await timedApp()
    const { cookie = '' } = await signIn(app)
    const call = { cookie, host: 'localhost:80', ...headers }
    expect(await userOf(app, call)).toBe(counts ? 'owner@localhost' : undefined)
  })

  it('has a name of its own for each service, the strictest attributes, and a prefix over https', async () => {
    const https = { BASE_URL: 'https://agents.example' }
    const names = await Promise.all(
      [{}, {}, https].map(async environment => {
        const { app } = await timedApp(environment)
        const { headers } = await redeem(app, await firstTokenAt(app))
        expect(headers['set-cookie']).toMatch(/; Path=\/; HttpOnly; SameSite=Strict; Max-Age=7776000$/)
        return String(headers['set-cookie'])
      }),
    )
    const [one = '', other = '', secure = ''] = names.map(cookie => cookie.split('=')[0])
    expect(one).toMatch(/^agentstead-\w{8}-session$/)
    expect(other).not.toBe(one)
    expect(secure).toMatch(/^__Host-agentstead-\w{8}-session$/)
    expect(names[2]).toContain('; Secure;')
  })

  it('over https counts by its prefixed name and the origin of BASE_URL only', async () => {
    const { app } = await timedApp({ BASE_URL: 'https://agents.example' })
    const { cookie = '' } = cookieOf(await redeem(app, await firstTokenAt(app)))
    const origin = 'https://agents.example'
    expect(await userOf(app, { cookie, origin, host: 'agents.example' })).toBe('owner@localhost')
    const plain = cookie.replace('__Host-', '')
    expect(await userOf(app, { cookie: plain, origin, host: 'agents.example' })).toBeUndefined()
    for (const foreign of ['http://agents.example', 'https://agents.example:444', 'https://x.agents.example'])
      expect(await userOf(app, { cookie, origin: foreign, host: 'agents.example' })).toBeUndefined()
  })

  it('lasts for 30 days after its last use, and 90 at most', async () => {
    const { app, clock } = await timedApp()
    const headers = await signIn(app)
    for (const days of [29, 29, 29]) {
      clock.time += days * day
      expect(await userOf(app, headers)).toBe('owner@localhost')
    }
    clock.time += 4 * day
    expect(await userOf(app, headers)).toBeUndefined()
    const { app: other, clock: time } = await timedApp()
    const idle = await signIn(other)
    time.time += 31 * day
    expect(await userOf(other, idle)).toBeUndefined()
  })
})

async function firstTokenAt(app: TestApp): Promise<string> {
  return ((await app.service.firstLink('https://agents.example')) ?? '').split('=')[1] ?? ''
}

describe('sessions', () => {
  it('are listed, ended one by one or together, and by signing out', async () => {
    const { app } = await timedApp({ OWNER_EMAIL: 'ada@example.com' })
    const tokens = [
      await firstToken(app),
      await firstToken(app),
      await firstToken(app),
      await firstToken(app),
    ]
    const [first = {}, second = {}, third = {}, fourth = {}] = await Promise.all(
      tokens.map(async token => cookieOf(await redeem(app, token, { 'user-agent': 'Browser' }))),
    )
    const list = () =>
      app.call<{ sessions: { id: string; current: boolean }[] }>('GET', '/api/auth/sessions', {
        headers: first,
      })
    const { sessions } = (await list()).body
    expect(sessions).toHaveLength(4)
    expect(sessions.filter(({ current }) => current)).toHaveLength(1)
    expect(sessions[0]).toMatchObject({ user_agent: 'Browser', expires_at: '2026-01-31T00:00:00.000Z' })
    const out = await app.call('POST', '/api/auth/sign-out', {
      headers: { ...second, origin: 'https://else.example' },
    })
    expect(out.headers['set-cookie']).toBeUndefined()
    expect(await userOf(app, second)).toBe('ada@example.com')
    const ended = await app.call('POST', '/api/auth/sign-out', { headers: second })
    expect(ended.headers['set-cookie']).toMatch(/-session=; .*Max-Age=0$/)
    expect(await userOf(app, second)).toBeUndefined()
    const current = sessions.find(session => session.current)?.id
    expect((await app.call('DELETE', `/api/auth/sessions/${current}`, { headers: third })).status).toBe(200)
    expect(await userOf(app, first)).toBeUndefined()
    expect((await app.call('DELETE', '/api/auth/sessions/none', { headers: third })).status).toBe(404)
    expect((await app.call('DELETE', '/api/auth/sessions', { headers: third })).status).toBe(200)
    for (const headers of [third, fourth]) expect(await userOf(app, headers)).toBeUndefined()
    expect((await app.call('GET', '/api/auth/sessions')).status).toBe(403)
  })
})

describe('invitations', () => {
  /** An agent whose owner is signed in. */
  async function owned(environment: Record<string, string> = {}) {
    const { app, clock } = await timedApp({ OWNER_EMAIL: 'ada@example.com', ...environment })
    const headers = await signIn(app)
    return { app, clock, headers, id: await makeAgent(app, { headers }) }
  }

  type Owned = Awaited<ReturnType<typeof owned>>

  async function invite({ app, headers, id }: Owned, email: string, role = 'viewer') {
    const body = { email, agents: [{ id, role }] }
    const answer = await app.call<{ id: string; url: string }>('POST', '/api/invitations', { headers, body })
    expect(answer).toMatchObject({ status: 201, body: { email, sent: false } })
    return { ...answer.body, token: answer.body.url.split('#invitation=')[1] ?? '' }
  }

  it('sign a new person in once, with their roles, unless they were withdrawn or are old', async () => {
    const given = await owned()
    const { app, clock, headers, id } = given
    const { token } = await invite(given, 'bob@example.com')
    const listed = await app.call<{ invitations: unknown[] }>('GET', '/api/invitations', { headers })
    expect(listed.body.invitations).toMatchObject([
      { email: 'bob@example.com', agents: [{ id, role: 'viewer' }] },
    ])
    expect(JSON.stringify(listed.body)).not.toContain(token)
    const answers = await Promise.all(Array.from({ length: 20 }, () => redeem(app, token)))
    const won = answers.filter(({ status }) => status === 200)
    expect(won).toHaveLength(1)
    const bob = cookieOf(won[0] as Answer)
    expect((await app.call('GET', `/api/agents/${id}`, { headers: bob })).status).toBe(200)
    expect((await app.call('GET', '/api/invitations', { headers })).body).toMatchObject({ invitations: [] })
    const withdrawn = await invite(given, 'eve@example.com')
    const path = `/api/invitations/${withdrawn.id}`
    const dan = await signInByOperator(app, 'dan@example.com')
    expect((await app.call('DELETE', path, { headers: dan })).status).toBe(404)
    expect((await app.call('DELETE', path, { headers })).status).toBe(200)
    const old = await invite(given, 'eve@example.com')
    clock.time += 7 * day
    for (const one of [withdrawn, old]) expect((await redeem(app, one.token)).status).toBe(403)
  })

  it('arrive by mail where it is configured, and only there, with a link that works once', async () => {
    await using server = await startMailServer()
    const mailing = { SMTP_URL: server.url, MAIL_FROM: 'Service <service@example.com>' }
    const given = await owned({ ...mailing, BASE_URL: 'https://agents.example' })
    const { app, headers, id } = given
    const body = { email: 'Bob@example.com', agents: [{ id, role: 'viewer' }] }
    const sent = await app.call('POST', '/api/invitations', { headers, body })
    expect(sent).toMatchObject({ status: 201, body: { email: 'bob@example.com', sent: true, url: null } })
    expect(server.mails).toMatchObject([{ from: 'service@example.com', to: ['bob@example.com'] }])
    const mail = readMail(server.mails[0]?.raw ?? '')
    expect(mail.headers.subject).toBe('You are invited to agentstead')
    expect(mail.text).toContain('ada@example.com invites you')
    const [, token = ''] =
      /^https:\/\/agents\.example\/sign-in#invitation=([\w-]{43})\s*$/m.exec(mail.text) ?? []
    const listed = await app.call('GET', '/api/invitations', { headers })
    expect(JSON.stringify([sent, listed, app.logged])).not.toContain(token)
    const redeemed = await redeem(app, token)
    expect(redeemed).toMatchObject({ status: 200, body: { user: { email: 'bob@example.com' } } })
    const bob = { headers: cookieOf(redeemed) }
    expect((await app.call('GET', `/api/agents/${id}`, bob)).status).toBe(200)
    expect((await redeem(app, token)).status).toBe(403)
    server.refuse(550)
    const { token: unsent } = await invite(given, 'cy@example.com')
    expect((await redeem(app, unsent)).status).toBe(200)
    expect(server.mails).toHaveLength(1)
  })

  it('are no way to become somebody who is known, but give that person more', async () => {
    const given = await owned()
    const { app, headers, id } = given
    const bob = cookieOf(await redeem(app, (await invite(given, 'bob@example.com')).token))
    const { token: ofAda } = await invite(given, 'ada@example.com', 'admin')
    expect(await redeem(app, ofAda)).toMatchObject({
      status: 403,
      body: { error: { message: expect.stringContaining('is for ada@example.com') } },
    })
    // An address that nobody has proved is free for each invitation, whose agents alone it reaches.
    const other = cookieOf(await redeem(app, (await invite(given, 'bob@example.com', 'chat')).token))
    const change = { headers: other, body: { description: 'x' } }
    expect((await app.call('PUT', `/api/agents/${id}`, change)).status).toBe(403)
    const { token } = await invite(given, 'bob@example.com', 'admin')
    expect((await redeem(app, token, bob)).status).toBe(200)
    const put = { headers: bob, body: { description: 'x' } }
    expect((await app.call('PUT', `/api/agents/${id}`, put)).status).toBe(200)
    const again = await invite(given, 'bob@example.com', 'chat')
    expect((await redeem(app, again.token, bob)).status).toBe(200)
    expect((await app.call('PUT', `/api/agents/${id}`, put)).status).toBe(200)
    expect(await userOf(app, headers)).toBe('ada@example.com')
  })

  it('are no way to become somebody of whom only a key is left', async () => {
    const given = await owned()
    const { app, headers, id } = given
    const { token } = await invite(given, 'bob@example.com')
    const bob = await signInByOperator(app, 'bob@example.com')
    expect((await redeem(app, token, bob)).status).toBe(200)
    const made = await app.call<{ key: string }>('POST', '/api/auth/keys', {
      headers: bob,
      body: { name: 'CI' },
    })
    const { body } = await app.call<{ admins: { id: string; email: string }[] }>(
      'GET',
      `/api/agents/${id}/admins`,
      {
        headers,
      },
    )
    const entry = body.admins.find(({ email }) => email === 'bob@example.com')
    await app.call('DELETE', `/api/agents/${id}/admins/${entry?.id}`, { headers })
    await app.call('POST', '/api/auth/sign-out', { headers: bob })
    expect((await redeem(app, (await invite(given, 'bob@example.com')).token)).status).toBe(403)
    expect(await userOf(app, { authorization: `Bearer ${made.body.key}` })).toBe('bob@example.com')
  })

  it('are made by owners, for their agents, and end with the role of who made them', async () => {
    const given = await owned()
    const { app, headers, id } = given
    const carol = await signInByOperator(app, 'carol@example.com')
    const offered = await invite(given, 'carol@example.com', 'owner')
    expect((await redeem(app, offered.token, carol)).status).toBe(200)
    const { token } = await invite({ ...given, headers: carol }, 'dan@example.com')
    const { body } = await app.call<{ admins: { id: string; email: string }[] }>(
      'GET',
      `/api/agents/${id}/admins`,
      { headers },
    )
    const entry = body.admins.find(({ email }) => email === 'carol@example.com')
    expect((await app.call('DELETE', `/api/agents/${id}/admins/${entry?.id}`, { headers })).status).toBe(200)
    expect((await redeem(app, token)).status).toBe(403)
    const mine = { email: 'x@example.com', agents: [{ id, role: 'viewer' }] }
    expect((await app.call('POST', '/api/invitations', { headers: carol, body: mine })).status).toBe(403)
    expect((await app.call('POST', '/api/invitations', { body: mine })).status).toBe(403)
    const none = { ...mine, agents: [{ id: 'none', role: 'viewer' }] }
    expect((await app.call('POST', '/api/invitations', { headers, body: none })).status).toBe(404)
  })

  it('are hinted at where an address gets a role that is not proved', async () => {
    const { app, headers, id } = await owned()
    const path = `/api/agents/${id}/admins`
    const add = (email: string) => app.call('POST', path, { headers, body: { email, role: 'viewer' } })
    expect(await add('new@example.com')).toMatchObject({
      status: 201,
      body: { hint: expect.stringContaining('POST /api/invitations') },
    })
    const other = await makeAgent(app, { headers })
    const again = { headers, body: { email: 'new@example.com', role: 'viewer' } }
    const path2 = `/api/agents/${other}/admins`
    expect((await app.call('POST', path2, again)).body).toHaveProperty('hint')
    await signInByOperator(app, 'known@example.com')
    const known = { headers, body: { email: 'known@example.com', role: 'viewer' } }
    expect((await app.call('POST', path2, known)).body).not.toHaveProperty('hint')
  })
})

it('each call leaves one entry of the audit log, with the person who made it and no token', async () => {
  const { app } = await timedApp({ OWNER_EMAIL: 'ada@example.com' })
  const tokens = [await firstToken(app), await firstToken(app), await firstToken(app)]
  const [headers = {}, second = {}, third = {}] = [
    cookieOf(await redeem(app, tokens[0] ?? '')),
    cookieOf(await redeem(app, tokens[1] ?? '')),
    cookieOf(await redeem(app, tokens[2] ?? '')),
  ]
  const body = { email: 'bo@example.com', agents: [{ id: 'default', role: 'chat' }] }
  const invited = await app.call<{ id: string; url: string }>('POST', '/api/invitations', { headers, body })
  const { id, url } = invited.body
  const sessions = await app.call<{ sessions: { id: string; current: boolean }[] }>(
    'GET',
    '/api/auth/sessions',
    {
      headers: second,
    },
  )
  const own = sessions.body.sessions.find(({ current }) => current)?.id
  await app.call('DELETE', `/api/invitations/${id}`, { headers })
  await app.call('DELETE', `/api/auth/sessions/${own}`, { headers })
  await app.call('POST', '/api/auth/sign-out', { headers: third })
  const rows = () => app.service.infrastructure.platform.selectFrom('audit_log').selectAll().execute()
  await app.call('DELETE', '/api/auth/sessions', { headers })
  const entries = await rows()
  expect(entries.map(({ operation }) => operation).toSorted()).toEqual([
    'createInvitation',
    'endSession',
    'endSessions',
    'redeemLink',
    'redeemLink',
    'redeemLink',
    'signOut',
    'withdrawInvitation',
  ])
  expect(entries.filter(({ agent_id }) => agent_id !== null).map(({ operation }) => operation)).toEqual([
    'redeemLink',
    'createInvitation',
    'withdrawInvitation',
  ])
  expect(new Set(entries.map(({ actor_id }) => actor_id))).toEqual(new Set(['ada@example.com']))
  const text = JSON.stringify(entries)
  for (const secret of [...tokens, url.split('=')[1] ?? '']) expect(text).not.toContain(secret)
  expect(text).toContain('bo@example.com')
})

it('an invitation, its roles, its withdrawal and refused ones are entries of each agent that they concern', async () => {
  const { app, clock } = await timedApp({ OWNER_EMAIL: 'ada@example.com' })
  // No two entries of the same time.
  clock.now = () => clock.time++
  const headers = await signIn(app)
  const [one, two, other] = [
    await makeAgent(app, { headers }),
    await makeAgent(app, { headers }),
    await makeAgent(app, { headers }),
  ]
  const send = (email: string, sender = headers) =>
    app.call<{ id: string; url: string }>('POST', '/api/invitations', {
      headers: sender,
      body: {
        email,
        agents: [
          { id: one, role: 'viewer' },
          { id: two, role: 'admin' },
        ],
      },
    })
  const { url } = (await send('bo@example.com')).body
  const bo = await signInByOperator(app, 'bo@example.com')
  expect((await redeem(app, url.split('=')[1] ?? '', bo)).status).toBe(200)
  const { id } = (await send('cy@example.com')).body
  expect((await app.call('DELETE', `/api/invitations/${id}`, { headers })).status).toBe(200)
  expect((await send('di@example.com', bo)).status).toBe(403)
  const entriesOf = async (agentId: string) => {
    const path = `/api/agents/${agentId}/audit?order=asc`
    const { body } = await app.call<{
      entries: { operation: string; actor_id: string; outcome: string; changes: { role?: unknown } | null }[]
    }>('GET', path, { headers })
    return body.entries.map(({ operation, actor_id, outcome, changes }) => [
      ...[operation, actor_id.split('@')[0], outcome],
      changes?.role,
    ])
  }
  const made = ['createAgent', 'ada', 'done', undefined]
  const common = (role: string) => [
    made,
    ['createInvitation', 'ada', 'done', role],
    ['redeemLink', 'bo', 'done', { from: null, to: role }],
    ['createInvitation', 'ada', 'done', role],
    ['withdrawInvitation', 'ada', 'done', role],
  ]
  expect(await entriesOf(one)).toEqual([...common('viewer'), ['createInvitation', 'bo', 'refused', 'viewer']])
  expect(await entriesOf(two)).toEqual(common('admin'))
  expect(await entriesOf(other)).toEqual([made])
})

it('without an identity provider, a person is sent to the sign-in of the console', async () => {
  const { app } = await timedApp()
  expect((await app.call('GET', '/api/auth/sign-in?return_to=/a')).headers.location).toBe(
    '/sign-in?return_to=%2Fa',
  )
})
