/** How addresses are proved, and what a sign-in without a proof may do. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { giveRole, makeAgent } from '#test/support/agents.ts'
import { type Answer, buildApp, type TestApp, testApp } from '#test/support/build-app.ts'
import { startGateway } from '#test/support/gateway.ts'
import { startIdentityProvider } from '#test/support/identity-provider.ts'
import { type MailServer, readMail, startMailServer } from '#test/support/mail-server.ts'
import { cookieOf, operatorToken, redeem, signInByOperator } from '#test/support/sign-in.ts'

type Headers = Record<string, string>
type Role = 'chat' | 'viewer' | 'admin' | 'owner'

let app: TestApp
let server: MailServer
let ada: Headers
let people = 0
let address: Promise<string> | undefined

beforeAll(async () => {
  server = await startMailServer()
  const mail = { SMTP_URL: server.url, MAIL_FROM: 'service@example.com' }
  app = await buildApp({ environment: { ...mail, OWNER_EMAIL: 'ada@example.com', PUBLIC_ACCESS: 'read' } })
  ada = await signInByOperator(app, 'ada@example.com')
})

afterAll(async () => {
  await app.close()
  await server[Symbol.asyncDispose]()
})

function newAddress(): string {
  people += 1
  return `guest${people}@example.com`
}

interface Invitation {
  to: { id: string; role: Role }[]
  by?: Headers
  on?: TestApp
}

async function invite(email: string, { to, by = ada, on = app }: Invitation) {
  const body = { email, agents: to }
  const answer = await on.call<{ id: string; url: string | null }>('POST', '/api/invitations', {
    headers: by,
    body,
  })
  expect(answer).toMatchObject({ status: 201 })
  return answer.body
}

/** The token of an invitation whose link is shown to its inviter, since the mail fails. */
async function shownToken(email: string, invitation: Invitation): Promise<string> {
  server.refuse(550)
  const { url } = await invite(email, invitation)
  server.refuse(undefined)
  return url?.split('=')[1] ?? ''
}

/** The token of an invitation that only the mailbox has seen. */
async function mailedToken(email: string, invitation: Invitation): Promise<string> {
  expect((await invite(email, invitation)).url).toBeNull()
  return /invitation=([\w-]{43})/.exec(readMail(server.mails.at(-1)?.raw ?? '').text)?.[1] ?? ''
}

const enter = async (token: string, headers: Headers = {}) => {
  const answer = await redeem(app, token, headers)
  expect(answer).toMatchObject({ status: 200 })
  return cookieOf(answer)
}

/** Follows the events of an agent; resolves once they have begun. */
async function follow(id: string, headers: Headers): Promise<{ ended: Promise<unknown> }> {
  address ??= app.listen()
  const answer = await fetch(`${await address}/api/agents/${id}/events`, { headers })
  expect(answer.status).toBe(200)
  return { ended: answer.text().catch(() => 'ended') }
}

/** Ways in, each for a person who is invited to an agent as its admin. */
const ways: Record<string, (email: string, invited: Invitation) => Promise<Headers>> = {
  operator: async (email, invited) => {
    const headers = await signInByOperator(app, email)
    await enter(await shownToken(email, invited), headers)
    return headers
  },
  mail: async (email, invited) => await enter(await mailedToken(email, invited)),
  invitation: async (email, invited) => await enter(await shownToken(email, invited)),
}

const key = { name: 'CI' }
const mcp = {
  headers: { accept: 'application/json, text/event-stream' },
  body: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
}

/** Calls by what they do, with the status for a whole sign-in, and for one that is bounded to the agent `a`. */
const things: [
  what: string,
  method: string,
  path: string,
  body: object | undefined,
  whole: number,
  bounded: number,
][] = [
  ['reads the invited agent', 'GET', '/api/agents/{a}', undefined, 200, 200],
  ['changes the invited agent', 'PUT', '/api/agents/{a}', { description: 'x' }, 200, 200],
  ['chats there', 'POST', '/api/agents/{a}/chat', { content: 'Hello' }, 200, 200],
  ['lists its MCP tools', 'POST', '/api/agents/{a}/mcp/endpoint', mcp.body, 200, 200],
  ['is asked at the door', 'POST', '/api/openai/v1/chat/completions', { model: '{a}' }, 200, 200],
  ['learns who it is', 'GET', '/api/auth/me', undefined, 200, 200],
  ['has what all have on default', 'GET', '/api/agents/default', undefined, 200, 200],
  ['changes default', 'PUT', '/api/agents/default', { description: 'x' }, 403, 403],
  ['reads an agent with a later role', 'GET', '/api/agents/{b}', undefined, 200, 403],
  ['changes it', 'PUT', '/api/agents/{b}', { description: 'x' }, 200, 403],
  ['sees its people', 'GET', '/api/agents/{b}/admins', undefined, 200, 403],
  ['chats with it', 'POST', '/api/agents/{b}/chat', { content: 'Hello' }, 200, 403],
  [
    'chats with it in the background',
    'POST',
    '/api/agents/{b}/chat',
    { content: 'Hi', background: true },
    200,
    403,
  ],
  ['lists its MCP tools there', 'POST', '/api/agents/{b}/mcp/endpoint', mcp.body, 200, 403],
  ['asks it at the door', 'POST', '/api/openai/v1/chat/completions', { model: '{b}' }, 200, 404],
  ['follows its events', 'GET', '/api/agents/{b}/usage', undefined, 200, 403],
  ['makes a key of the invited agent', 'POST', '/api/agents/{a}/keys', { ...key, role: 'chat' }, 201, 403],
  ['makes a key of the later agent', 'POST', '/api/agents/{b}/keys', { ...key, role: 'chat' }, 201, 403],
  ['makes a personal key', 'POST', '/api/auth/keys', key, 201, 403],
  ['lists personal keys', 'GET', '/api/auth/keys', undefined, 200, 403],
  ['makes an agent', 'POST', '/api/agents', { name: '{new}' }, 201, 403],
  [
    'invites',
    'POST',
    '/api/invitations',
    { email: 'x@example.com', agents: [{ id: '{b}', role: 'chat' }] },
    201,
    403,
  ],
  ['gives a role', 'POST', '/api/agents/{b}/admins', { email: 'x@example.com', role: 'chat' }, 201, 403],
  ['lists the sessions of its address', 'GET', '/api/auth/sessions', undefined, 200, 403],
  ['reads the audit log of its agents', 'GET', '/api/audit', undefined, 200, 403],
]

describe.each(Object.keys(ways))('a sign-in by %s', way => {
  const isWhole = way !== 'invitation'

  it('reaches what its proof allows, also of roles that are given later', async () => {
    const email = newAddress()
    const [a, b] = [await makeAgent(app, { headers: ada }), await makeAgent(app, { headers: ada })]
    const headers = (await ways[way]?.(email, { to: [{ id: a, role: 'admin' }] })) ?? {}
    await giveRole(app, b, { email, role: 'owner', headers: ada })
    const wrong: unknown[] = []
    for (const [what, method, path, body, whole, bounded] of things) {
      const filled = (text: string) =>
        text.replaceAll('{a}', a).replaceAll('{b}', b).replaceAll('{new}', `of-${way}`)
      const messages = path.includes('openai') ? { messages: [{ role: 'user', content: 'Hello' }] } : {}
      const sent = body && { body: { ...JSON.parse(filled(JSON.stringify(body))), ...messages } }
      const accept = path.includes('/mcp/') ? mcp.headers : {}
      const { status } = await app.call(method, filled(path), { headers: { ...headers, ...accept }, ...sent })
      if (status !== (isWhole ? whole : bounded)) wrong.push([what, status])
    }
    expect(wrong).toEqual([])
    const listed = async (path: string, rows: 'agents' | 'data') =>
      (
        (await app.call<Record<typeof rows, { id: string }[]>>('GET', path, { headers })).body[rows] ?? []
      ).map(({ id }) => id)
    const agents = await listed('/api/agents', 'agents')
    expect([a, b, 'default'].map(id => agents.includes(id))).toEqual([true, isWhole, true])
    const own = await listed('/api/auth/agents', 'agents')
    expect([a, b, 'default'].map(id => own.includes(id))).toEqual([true, isWhole, false])
    const models = await app.call<{ data: { id: string }[] }>('GET', '/api/openai/v1/models', { headers })
    const names = await Promise.all(
      [a, b].map(
        async id =>
          (await app.call<{ name: string }>('GET', `/api/agents/${id}`, { headers: ada })).body.name,
      ),
    )
    expect(names.map(name => models.body.data.some(({ id }) => id === name))).toEqual([true, isWhole])
  })

  it('is shown to owners, with who invited the person', async () => {
    const email = newAddress()
    const id = await makeAgent(app, { headers: ada })
    const headers = (await ways[way]?.(email, { to: [{ id, role: 'viewer' }] })) ?? {}
    const entryFor = async (reader: Headers) => {
      const path = `/api/agents/${id}/admins?search=${email}`
      return (await app.call<{ admins: object[] }>('GET', path, { headers: reader })).body.admins[0]
    }
    const proof = { proved_by: isWhole ? way : null, invited_by: 'ada@example.com' }
    expect(await entryFor(ada)).toMatchObject({ email, ...proof })
    expect(Object.keys((await entryFor(headers)) ?? {})).not.toContain('proved_by')
    const other = await makeAgent(app, { headers: ada })
    const body = { email, role: 'chat' }
    const added = await app.call('POST', `/api/agents/${other}/admins`, { headers: ada, body })
    expect(Object.hasOwn(Object(added.body), 'hint')).toBe(!isWhole)
  })
})

describe('a sign-in without a proof', () => {
  async function guest(role: Role = 'viewer') {
    const [email, id] = [newAddress(), await makeAgent(app, { headers: ada })]
    const headers = await enter(await shownToken(email, { to: [{ id, role }] }))
    const read = async (agent = id) => (await app.call('GET', `/api/agents/${agent}`, { headers })).status
    const change = async (agent = id) =>
      (await app.call('PUT', `/api/agents/${agent}`, { headers, body: { description: 'x' } })).status
    return { email, id, headers, read, change }
  }

  it('has the lesser of the role that it was invited to and the role now', async () => {
    const { email, id, read, change } = await guest('viewer')
    const { platform } = app.service.infrastructure
    const setRole = async (role: Role) => {
      await platform.updateTable('agent_admins').set({ role }).where('email', '=', email).execute()
      // Roles are read anew after a change.
      await giveRole(app, id, { email: newAddress(), role: 'chat', headers: ada })
    }
    expect([await read(), await change()]).toEqual([200, 403])
    await setRole('owner')
    expect([await read(), await change()]).toEqual([200, 403])
    const admin = await guest('admin')
    await platform
      .updateTable('agent_admins')
      .set({ role: 'viewer' })
      .where('email', '=', admin.email)
      .execute()
    await giveRole(app, admin.id, { email: newAddress(), role: 'chat', headers: ada })
    expect([await admin.read(), await admin.change()]).toEqual([200, 403])
  })

  it('reaches the agent no more once the role was taken away, although the address gets it again', async () => {
    const { email, id, read, headers } = await guest('admin')
    const stream = await follow(id, headers)
    expect(
      (await app.call('DELETE', `/api/agents/${id}/admins/${email.toUpperCase()}`, { headers: ada })).status,
    ).toBe(200)
    await stream.ended
    await giveRole(app, id, { email, role: 'admin', headers: ada })
    expect(await read()).toBe(403)
    const whole = await signInByOperator(app, email)
    expect((await app.call('GET', `/api/agents/${id}`, { headers: whole })).status).toBe(200)
  })

  it('reaches more by another invitation, and as much as that gives', async () => {
    const { email, id, headers, read, change } = await guest('viewer')
    const other = await makeAgent(app, { headers: ada })
    const later = await makeAgent(app, { headers: ada })
    await giveRole(app, later, { email, role: 'owner', headers: ada })
    const to: Invitation['to'] = [
      { id, role: 'admin' },
      { id: other, role: 'viewer' },
    ]
    expect((await redeem(app, await shownToken(email, { to }), headers)).status).toBe(200)
    expect([await change(), await read(other), await change(other), await read(later)]).toEqual([
      200, 200, 403, 403,
    ])
    const less: Invitation['to'] = [{ id, role: 'chat' }]
    expect((await redeem(app, await shownToken(email, { to: less }), headers)).status).toBe(200)
    expect(await change()).toBe(200)
    expect((await app.call('POST', '/api/auth/keys', { headers, body: key })).status).toBe(403)
  })

  it.each(['operator', 'mail'])(
    'ends once the address is proved by %s, and the new one is whole',
    async way => {
      const { email, id, headers, read } = await guest('viewer')
      const whole = await (way === 'mail'
        ? mailedToken(email, { to: [{ id, role: 'viewer' }] }).then(token => enter(token, headers))
        : signInByOperator(app, email))
      expect((await app.call('POST', '/api/auth/keys', { headers: whole, body: key })).status).toBe(201)
      expect(await read()).toBe(403)
      // From now on an invitation whose link others see signs nobody in.
      const token = await shownToken(email, { to: [{ id, role: 'viewer' }] })
      expect((await redeem(app, token)).status).toBe(403)
    },
  )

  it('is bounded in the turns that it begins, too', async () => {
    const { id, headers } = await guest('chat')
    const body = { content: 'Hello', background: true, autoRag: false }
    const { status } = await app.call('POST', `/api/agents/${id}/chat`, { headers, body })
    expect(status).toBe(200)
    const questions = await app.service.infrastructure.agentDatabases.use(id, ({ db }) =>
      db.selectFrom('turns').select('question').execute(),
    )
    const [actor] = questions.map(({ question }) => JSON.parse(question).actor)
    expect(actor).toMatchObject({ kind: 'person', invitedTo: [{ id, role: 'chat' }] })
  })

  it('signs out, and a former one of no known beginning reaches nothing', async () => {
    const { email, headers, read } = await guest('viewer')
    await app.service.infrastructure.platform
      .deleteFrom('session_agents')
      .where('session_id', 'in', eb => eb.selectFrom('sessions').select('id').where('email', '=', email))
      .execute()
    expect(await read()).toBe(403)
    expect((await app.call('POST', '/api/auth/sign-out', { headers })).status).toBe(200)
    const me = await app.call('GET', '/api/auth/me', { headers })
    expect(me.body).toMatchObject({ user: null })
  })
})

describe('signing a person out', () => {
  async function member() {
    const [email, id] = [newAddress(), await makeAgent(app, { headers: ada })]
    const headers = await signInByOperator(app, email)
    await giveRole(app, id, { email, role: 'admin', headers: ada })
    const made = await app.call<{ key: string }>('POST', '/api/auth/keys', { headers, body: key })
    const bearer = { authorization: `Bearer ${made.body.key}` }
    const meets = async (of: Headers) => (await app.call('GET', `/api/agents/${id}`, { headers: of })).status
    const signOut = (who: string, by = ada) =>
      app.call('POST', `/api/agents/${id}/admins/${who}/sign-out`, { headers: by })
    return { email, id, headers, bearer, meets, signOut }
  }

  it('ends sessions, streams and personal keys, but no role, for an owner of all of their agents', async () => {
    const { email, id, headers, bearer, meets, signOut } = await member()
    const stream = await follow(id, headers)
    expect(await signOut(email)).toMatchObject({ status: 200, body: { success: true } })
    await stream.ended
    expect([await meets(headers), await meets(bearer)]).toEqual([403, 401])
    expect(await meets(await signInByOperator(app, email))).toBe(200)
  })

  it('is refused to an owner of some of their agents only, and to others', async () => {
    const { email, id, headers, bearer, meets, signOut } = await member()
    const eve = await signInByOperator(app, newAddress())
    const own = await makeAgent(app, { headers: eve })
    await giveRole(app, own, { email, role: 'viewer', headers: eve })
    expect(await signOut(email)).toMatchObject({ status: 403, body: expect.stringContaining('all agents') })
    const byEve = await app.call('POST', `/api/agents/${own}/admins/${email}/sign-out`, { headers: eve })
    expect(byEve.status).toBe(403)
    for (const by of [eve, headers, bearer, {}]) expect((await signOut(email, by)).status).toBe(403)
    expect((await signOut('nobody@example.com')).status).toBe(404)
    expect([await meets(headers), await meets(bearer)]).toEqual([200, 200])
    const { body } = await app.call<{ admins: { id: string; email: string }[] }>(
      'GET',
      `/api/agents/${id}/admins`,
      { headers: ada },
    )
    const entry = body.admins.find(one => one.email === email)
    await app.call('DELETE', `/api/agents/${own}/admins/${email}`, { headers: eve })
    expect((await signOut(entry?.id ?? '')).status).toBe(200)
  })

  it('a role that is removed takes the reach of keys with it', async () => {
    const { email, id, headers, bearer, meets } = await member()
    const made = await app.call<{ key: string }>('POST', `/api/agents/${id}/keys`, {
      headers,
      body: { ...key, role: 'admin' },
    })
    expect(made.status).toBe(201)
    const ofAgent = { authorization: `Bearer ${made.body.key}` }
    expect((await app.call('DELETE', `/api/agents/${id}/admins/${email}`, { headers: ada })).status).toBe(200)
    for (const one of [headers, bearer, ofAgent]) expect(await meets(one)).toBe(403)
    expect((await app.call('DELETE', `/api/agents/${id}/admins/${email}`, { headers: ada })).status).toBe(404)
  })
})

describe('invitations', () => {
  it('replace the open one of the same inviter, and no other', async () => {
    const [email, id] = [newAddress(), await makeAgent(app, { headers: ada })]
    const bob = await signInByOperator(app, newAddress())
    const own = await makeAgent(app, { headers: bob })
    const first = await shownToken(email, { to: [{ id, role: 'viewer' }] })
    const ofBob = await shownToken(email, { to: [{ id: own, role: 'viewer' }], by: bob })
    const second = await shownToken(email, { to: [{ id, role: 'viewer' }] })
    const listed = await app.call<{ invitations: unknown[] }>('GET', `/api/invitations?search=${email}`, {
      headers: ada,
    })
    expect(listed.body.invitations).toHaveLength(1)
    expect((await redeem(app, first)).status).toBe(403)
    const headers = await enter(second)
    expect((await redeem(app, ofBob, headers)).status).toBe(200)
  })

  it('send five mails to an address in a day, of all inviters together', async () => {
    const email = newAddress()
    const inviters = [ada, await signInByOperator(app, newAddress())]
    const send = async (at: number) => {
      const headers = inviters[at % 2] ?? ada
      const agents = [{ id: await makeAgent(app, { headers }), role: 'viewer' }]
      return await app.call('POST', '/api/invitations', { headers, body: { email, agents } })
    }
    const before = server.mails.length
    const answers: Answer[] = []
    for (let at = 0; at < 7; at += 1) answers.push(await send(at))
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201, 429, 429])
    expect(Number(answers[6]?.headers['retry-after'])).toBeGreaterThan(80_000)
    expect(server.mails).toHaveLength(before + 5)
    const [, last] = /invitation=([\w-]{43})/.exec(readMail(server.mails.at(-1)?.raw ?? '').text) ?? []
    expect((await redeem(app, last ?? '')).status).toBe(200)
  })

  it('sign in an address that has a role, but was never used', async () => {
    const [email, id] = [newAddress(), await makeAgent(app, { headers: ada })]
    const later = await makeAgent(app, { headers: ada })
    await giveRole(app, later, { email, role: 'owner', headers: ada })
    const headers = await enter(await shownToken(email, { to: [{ id, role: 'viewer' }] }))
    expect((await app.call('GET', `/api/agents/${later}`, { headers })).status).toBe(403)
  })
})

describe('AGENTS_BY', () => {
  const rules = ['anyone', 'proved', 'owners', '@example.org, carol@example.com']
  const create = async (on: TestApp, headers: Headers) =>
    (await on.call('POST', '/api/agents', { headers, body: { name: `made-${people++}` } })).status

  it.each(rules)('%s decides who makes agents', async rule => {
    const gateway = await startGateway()
    onTestFinished(() => gateway.close())
    const on = await testApp({
      environment: { ...gateway.environment, AGENTS_BY: rule, OWNER_EMAIL: 'root@example.com' },
    })
    const dan = await gateway.headers('dan@example.com')
    const owner = await signInByOperator(on, 'root@example.com')
    const roleOn = async (email: string, role: Role, by_groups: number | null = null) => {
      await giveRole(on, 'default', { email, role, headers: owner })
      await on.service.infrastructure.platform
        .updateTable('agent_admins')
        .set({ by_groups })
        .where('email', '=', email)
        .execute()
      return await gateway.headers(email)
    }
    const personal = await on.call<{ key: string }>('POST', '/api/auth/keys', { headers: dan, body: key })
    const capped = await on.call<{ key: string }>('POST', '/api/auth/keys', {
      headers: owner,
      body: { ...key, role: 'admin' },
    })
    const callers: Record<string, [headers: Headers, makes: string[]]> = {
      'a person of the gateway': [dan, ['anyone', 'proved']],
      'their key': [{ authorization: `Bearer ${personal.body.key}` }, ['anyone', 'proved']],
      'a key with a limit': [{ authorization: `Bearer ${capped.body.key}` }, []],
      'a person of the operator': [
        await signInByOperator(on, 'eve@example.com'),
        ['anyone', 'proved', 'owners'],
      ],
      'an owner': [await roleOn('oscar@example.com', 'owner'), ['anyone', 'proved', 'owners']],
      'an admin': [await roleOn('amy@example.com', 'admin'), ['anyone', 'proved']],
      'a person with a role by groups': [
        await roleOn('gil@example.com', 'viewer', 1),
        ['anyone', 'proved', 'owners'],
      ],
      'a named person': [await gateway.headers('Carol@example.com'), ['anyone', 'proved', rules[3] ?? '']],
      'a person of a named domain': [
        await gateway.headers('x@example.org'),
        ['anyone', 'proved', rules[3] ?? ''],
      ],
      'a person of a longer domain': [await gateway.headers('x@sub.example.org'), ['anyone', 'proved']],
      'a caller without a user': [{}, []],
    }
    const wrong = []
    for (const [who, [headers, makes]] of Object.entries(callers))
      if ((await create(on, headers)) !== (makes.includes(rule) ? 201 : 403)) wrong.push(who)
    expect(wrong).toEqual([])
    const entries = await on.call<{ admins: { email: string; proved_by: string | null }[] }>(
      'GET',
      '/api/agents/default/admins',
      { headers: owner },
    )
    const proofs = Object.fromEntries(entries.body.admins.map(({ email, proved_by }) => [email, proved_by]))
    expect(proofs).toMatchObject({ 'root@example.com': 'operator', 'oscar@example.com': 'gateway' })
  })

  it('knows keys by how the address of their person was proved', async () => {
    const email = newAddress()
    const headers = await signInByOperator(app, email)
    const made = await app.call<{ key: string }>('POST', '/api/auth/keys', { headers, body: key })
    const bearer = { authorization: `Bearer ${made.body.key}` }
    expect(await create(app, bearer)).toBe(201)
    await app.service.infrastructure.platform.deleteFrom('people').where('email', '=', email).execute()
    expect(await create(app, bearer)).toBe(403)
  })

  it.each(['', 'proved', 'owners'])('lets DEV_USER make agents: "%s"', async AgentsBy => {
    const on = await testApp({ environment: { DEV_USER: 'dev@example.com', AGENTS_BY: AgentsBy } })
    const id = await makeAgent(on)
    const { body } = await on.call('GET', `/api/agents/${id}/admins`)
    expect(body).toMatchObject({
      admins: [{ email: 'dev@example.com', proved_by: 'dev_user', invited_by: null }],
    })
  })
})

it('an account of an identity provider proves its address', async () => {
  const base = 'https://agents.example'
  const provider = await startIdentityProvider(`${base}/api/auth/callback`)
  onTestFinished(() => provider.stop())
  const on = await testApp({
    environment: { ...provider.environment, BASE_URL: base, SIGN_IN_ALLOW: '@example.com' },
  })
  const begun = await on.call('GET', '/api/auth/sign-in')
  const back = await provider.visit(String(begun.headers.location), 'gus')
  const [kept = ''] = String(begun.headers['set-cookie']).split(';')
  const planted = kept.replace(/=.*/, '=planted')
  const answer = await on.call('GET', back.slice(base.length), { headers: { cookie: `${planted}; ${kept}` } })
  expect(answer.status).toBe(302)
  const cookie =
    [answer.headers['set-cookie']]
      .flat()
      .map(String)
      .find(one => one.includes('-session='))
      ?.split(';')[0] ?? ''
  const headers = { cookie, origin: base, host: 'agents.example' }
  const id = await makeAgent(on, { headers })
  const { body } = await on.call('GET', `/api/agents/${id}/admins`, { headers })
  expect(body).toMatchObject({ admins: [{ email: 'gus@example.com', proved_by: 'oidc' }] })
})

describe('a second cookie of our name', () => {
  const own = { 'sec-fetch-site': 'same-origin' }
  const userOf = async (cookies: string[], host = 'localhost:80') => {
    const headers = { ...own, host, cookie: cookies.join('; ') }
    return (await app.call<{ user: { email: string } | null }>('GET', '/api/auth/me', { headers })).body.user
      ?.email
  }
  const prefixed = (cookie: string) => `__Host-${cookie}`

  it('neither signs out nor wins', async () => {
    const [email, other] = [newAddress(), newAddress()]
    const mine = (await signInByOperator(app, email)).cookie ?? ''
    const again = (await signInByOperator(app, email)).cookie ?? ''
    const theirs = (await signInByOperator(app, other)).cookie ?? ''
    const name = mine.split('=')[0]
    const planted = `${name}=${'x'.repeat(43)}`
    const wrong = Array.from({ length: 19 }, (_, at) => `${name}=${at}`)
    const cases: [cookies: string[], user: string | undefined][] = [
      [[mine], email],
      [[planted, mine], email],
      [[mine, planted], email],
      [[`${name}=`, `${name}="`, 'x', '', mine], email],
      [[...wrong, mine], email],
      [[mine, again], email],
      [[prefixed(mine), theirs], email],
      [[theirs, prefixed(mine)], email],
      [[prefixed(planted), mine], email],
      [[theirs, mine], undefined],
      [[mine, theirs], undefined],
      [[planted], undefined],
    ]
    for (const [cookies, user] of cases) expect(await userOf(cookies), cookies.join('; ')).toBe(user)
  })
})

it('the token of the operator proves the address of an invited person, whoever opens it', async () => {
  const [email, id] = [newAddress(), await makeAgent(app, { headers: ada })]
  const bounded = await enter(await shownToken(email, { to: [{ id, role: 'viewer' }] }))
  const whole = cookieOf(await redeem(app, await operatorToken(app, email), bounded))
  expect((await app.call('POST', '/api/auth/keys', { headers: whole, body: key })).status).toBe(201)
})
