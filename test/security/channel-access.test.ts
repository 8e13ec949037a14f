/** Who may open the channels of a browser session, and drive it: every caller against every channel. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { BrowserSession } from '#features/browser/sessions/browser-session.ts'
import { giveRole, makeAgent } from '../support/agents.ts'
import { openLastingSession } from '../support/browser-stage.ts'
import { buildApp, type TestApp } from '../support/build-app.ts'
import { type Channel, openChannel, specificationShape, types } from '../support/cast-client.ts'
import { eventually } from '../support/eventually.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { boundSessions, cookieOf, redeem } from '../support/sign-in.ts'

type Headers = Record<string, string>

const channels = ['cast', 'logs', 'pageId', 'recording']
const [unknown, refused] = [4404, 4403]

let gateway: Gateway
let app: TestApp
let origin: string
let owner: Headers
let agentId: string
let own: { id: string; path: string; session: BrowserSession }
let other: { id: string; path: string }

beforeAll(async () => {
  gateway = await startGateway()
  app = await buildApp({ environment: { ...gateway.environment, PUBLIC_ACCESS: 'chat' } })
  origin = await app.listen()
  owner = await gateway.headers('owner@example.com')
  const asOwner: TestApp = {
    ...app,
    call: (method, path, options) => app.call(method, path, { headers: owner, ...options }),
  }
  agentId = await makeAgent(app, { headers: owner })
  own = await openLastingSession(asOwner, { agentId })
  other = await openLastingSession(asOwner, { agentId: await makeAgent(app, { headers: owner }) })
})

afterAll(async () => {
  await app.close()
  await gateway.close()
})

interface Caller {
  headers?: Headers
  token?: string
  session?: string
}

/** Opens a channel; the code with which it is closed at once, or the channel. */
async function open(
  channel: string,
  { headers = {}, token, session = own.id }: Caller,
): Promise<Channel | number> {
  const query = new URLSearchParams({ sessionId: session, ...(token !== undefined && { token }) })
  const opened = await openChannel(origin, `/v1/sessions/${channel}?${query}`, { headers })
  onTestFinished(() => opened[Symbol.asyncDispose]())
  // Nothing of the client is read, nor a ping answered, before it is decided.
  const alive = new Promise<Channel>(resolve => opened.socket.once('pong', () => resolve(opened)))
  opened.socket.ping()
  const first = await Promise.race([alive, opened.closed])
  return 'code' in first ? first.code : opened
}

async function codes(caller: Caller): Promise<(number | 'open')[]> {
  const opened = await Promise.all(channels.map(channel => open(channel, caller)))
  return opened.map(one => (typeof one === 'number' ? one : 'open'))
}

const everywhere = (code: number | 'open') => channels.map(() => code)

/** Has the caller type, and expects that it arrives, or does not. */
async function expectToDrive(caller: Caller, isExpected: boolean): Promise<void> {
  const channel = await open('cast', caller)
  if (typeof channel === 'number') throw new Error(`The channel was closed with ${channel}.`)
  const page = await own.session.page()
  await page.setContent('<input autofocus>')
  await page.focus('input')
  for (const message of types(specificationShape, 'abc')) channel.send(message)
  // Everything that was sent has been judged when what can't be used has ended the connection.
  for (let count = 0; count < 50; count += 1) channel.send('no json')
  expect(await channel.closed).toMatchObject({ code: 4400 })
  if (isExpected) await eventually(async () => expect(await page.inputValue('input')).toBe('abc'))
  else expect(await page.inputValue('input')).toBe('')
}

async function takeover(reason = 'Sign in'): Promise<string> {
  const body = { reason, timeout: 300 }
  const answer = await app.call<{ takeover_url: string }>('POST', `${own.path}/takeover`, {
    headers: owner,
    body,
  })
  return new URL(answer.body.takeover_url).searchParams.get('token') ?? ''
}

const handBack = () => app.call('POST', `${own.path}/takeover/end`, { headers: owner, body: {} })

async function viewToken(path: string): Promise<string> {
  const { body } = await app.call<{ url: string }>('GET', `${path}/live-view`, { headers: owner })
  return new URL(body.url).searchParams.get('token') ?? ''
}

describe('a role on the agent', () => {
  it('opens channels; owners and admins drive, viewers watch', async () => {
    const roles = { viewer: false, admin: true, owner: true } as const
    for (const [role, mayDrive] of Object.entries(roles)) {
      const email = `${role}-of-it@example.com`
      await giveRole(app, agentId, { email, role: role as keyof typeof roles, headers: owner })
      const headers = await gateway.headers(email)
      expect(await codes({ headers }), role).toEqual(everywhere('open'))
      await expectToDrive({ headers }, mayDrive)
    }
  })

  it('is needed: nobody else gets in, whatever they say of themselves', async () => {
    const stranger = await gateway.headers('stranger@example.com')
    const expired = await gateway.headers('owner@example.com', { exp: 1 })
    for (const headers of [
      {},
      stranger,
      expired,
      { 'cf-access-authenticated-user-email': 'owner@example.com' },
    ])
      expect(await codes({ headers })).toEqual(everywhere(refused))
    expect(await codes({ headers: owner, session: `${agentId}.nope` })).toEqual(everywhere(unknown))
    expect(await codes({ headers: owner, session: 'nope' })).toEqual(everywhere(unknown))
  })

  it('does not count for the page of another site', async () => {
    for (const foreign of ['https://evil.example', 'null'])
      expect(await codes({ headers: { ...owner, origin: foreign } })).toEqual(everywhere(refused))
    expect(await codes({ headers: { ...owner, origin } })).toEqual(everywhere('open'))
  })

  it('closes its connections when it is taken away, and drives no longer as a viewer', async () => {
    const email = 'removed@example.com'
    const entry = await giveRole(app, agentId, { email, role: 'admin', headers: owner })
    const headers = await gateway.headers(email)
    const opened = await Promise.all(channels.map(channel => open(channel, { headers })))
    expect(await app.call('DELETE', entry, { headers: owner })).toMatchObject({ status: 200 })
    for (const channel of opened) {
      if (typeof channel === 'number') throw new Error('It should have been opened.')
      expect(await channel.closed).toMatchObject({ code: refused })
    }
  })
})

describe('the token of a link', () => {
  it('permits to watch its session, and nothing else', async () => {
    const token = await viewToken(own.path)
    expect(await codes({ token })).toEqual(everywhere('open'))
    expect(await codes({ token, headers: { origin: 'https://elsewhere.example' } })).toEqual(
      everywhere('open'),
    )
    await expectToDrive({ token }, false)
    expect(await codes({ token, session: other.id })).toEqual(everywhere(refused))
    expect(await codes({ token: await viewToken(other.path) })).toEqual(everywhere(refused))
    const [head, , signature] = token.split('.')
    const forged = Buffer.from(JSON.stringify({ right: 'takeover', sub: own.id, exp: 1e10 })).toString(
      'base64url',
    )
    const none = Buffer.from('{"alg":"none"}').toString('base64url')
    const bad = ['', 'null', 'undefined', `${token}x`, `${head}.${forged}.${signature}`, `${none}.${forged}.`]
    // A bad token is not made good by a role, either.
    for (const each of bad)
      expect(await codes({ token: each, headers: owner }), each).toEqual(everywhere(refused))
  })

  it('permits to drive during its takeover alone', async () => {
    const first = await takeover()
    expect(await codes({ token: first })).toEqual(everywhere('open'))
    await expectToDrive({ token: first }, true)
    await expectToDrive({ token: await viewToken(own.path) }, false)
    await handBack()
    expect(await codes({ token: first })).toEqual(everywhere(refused))
    const second = await takeover()
    expect(await codes({ token: first })).toEqual(everywhere(refused))
    const channel = await open('cast', { token: second })
    await handBack()
    if (typeof channel === 'number') throw new Error('It should have been opened.')
    expect(await channel.closed).toMatchObject({ code: refused })
  })
})

it('a sign-in without a proof opens the channels of its invitation alone', async () => {
  const email = 'unproved@example.com'
  const agents = [{ id: agentId, role: 'viewer' }]
  const invitation = { headers: owner, body: { email, agents } }
  const invited = await app.call<{ url: string }>('POST', '/api/invitations', invitation)
  const token = invited.body.url.split('#invitation=')[1] ?? ''
  const { cookie = '' } = cookieOf(await redeem(app, token, await gateway.headers(email)))
  await giveRole(app, other.path.split('/')[3] ?? '', { email, role: 'owner', headers: owner })
  const headers = { cookie, origin }
  expect(await codes({ headers, session: other.id })).toEqual(everywhere('open'))
  await boundSessions(app, { email, agentId, role: 'viewer' })
  expect(await codes({ headers })).toEqual(everywhere('open'))
  expect(await codes({ headers, session: other.id })).toEqual(everywhere(refused))
})

it('API keys open channels as far as their role goes, until they are revoked', async () => {
  const path = `/api/agents/${agentId}/keys`
  const make = async (role: string) => {
    const answer = await app.call<{ id: string; key: string }>('POST', path, {
      headers: owner,
      body: { name: 'CI', role },
    })
    return { headers: { authorization: `Bearer ${answer.body.key}` }, id: answer.body.id }
  }
  const viewer = await make('viewer')
  expect(await codes(await make('chat'))).toEqual(everywhere(refused))
  expect(await codes({ headers: { authorization: 'Bearer asa_wrong' } })).toEqual(everywhere(refused))
  const opened = await Promise.all(channels.map(channel => open(channel, viewer)))
  await app.call('DELETE', `${path}/${viewer.id}`, { headers: owner })
  for (const channel of opened)
    expect(typeof channel === 'number' ? channel : await channel.closed).toMatchObject({ code: refused })
})
