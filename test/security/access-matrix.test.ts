/**
 * Holds every route of the service against the table of who may call it, for every kind of caller, before any body is read. The
 * routes are those of the service, so that a new one needs its line in the table.
 */
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newApiKey } from '#platform/api-key.ts'
import { agentLevels, type RouteRule, routeRules } from '../spec/route-access.ts'
import { giveRole, makeAgent } from '../support/agents.ts'
import { type Answer, buildApp, type TestApp } from '../support/build-app.ts'
import { isFullEndurance } from '../support/endurance.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { manualClock } from '../support/manual-clock.ts'
import { boundSessions, cookieOf, redeem } from '../support/sign-in.ts'

type Headers = Record<string, string>
type Power = 'nothing' | 'chat' | (typeof agentLevels)[number]

interface Kind {
  headers: Headers
  /** On the agent; `refused` for a proof that is not to be trusted. */
  power: Power | 'refused'
  /** A person, or a personal key without limits, who may create agents. */
  isUser?: boolean
  isKey?: boolean
  /** Signed in without a proof of the address. */
  isBounded?: boolean
}

/** What a signature of its own decides: without one it is answered with 401, whoever sends it. */
const signedRoutes = [
  'GET /api/agents/:id/channels/whatsapp/webhook',
  'POST /api/agents/:id/provider/webhook',
  'POST /api/agents/:id/channels/telegram/webhook',
  'POST /api/agents/:id/channels/whatsapp/webhook',
]

let gateway: Gateway
let app: TestApp
let agentId: string
const kinds: Record<string, Kind> = {}

beforeAll(async () => {
  gateway = await startGateway()
  const clock = manualClock(new Date().toISOString())
  app = await buildApp({ environment: gateway.environment, clock })
  const owner = await gateway.headers('owner@example.com')
  agentId = await makeAgent(app, { headers: owner })
  const other = await makeAgent(app, { headers: owner })
  const give = async (email: string, role: 'chat' | 'viewer' | 'admin' | 'owner') => {
    const entry = await giveRole(app, agentId, { email, role, headers: owner })
    return {
      headers: await gateway.headers(email),
      remove: () => app.call('DELETE', entry, { headers: owner }),
    }
  }
  const make = async (path: string, body: object, headers = owner) => {
    const answer = await app.call<{ id: string; key: string }>('POST', path, {
      headers,
      body: { name: 'CI', ...body },
    })
    expect(answer.status).toBe(201)
    return { authorization: `Bearer ${answer.body.key}`, path: `${path}/${answer.body.id}` }
  }
  const keysOf = (id: string) => `/api/agents/${id}/keys`
  const personal = '/api/auth/keys'
  const key = async (path: string, body: object, headers = owner): Promise<Headers> => {
    const { authorization } = await make(path, body, headers)
    return { authorization }
  }

  const former = await give('former@example.com', 'owner')
  const keyOfFormer = await key(keysOf(agentId), { role: 'admin' }, former.headers)
  const personalOfFormer = await key(personal, {}, former.headers)
  await former.remove()
  const revoked = await make(keysOf(agentId), { role: 'admin' })
  await app.call('DELETE', revoked.path, { headers: owner })
  const soon = new Date(clock.now() + 1000).toISOString()
  const expired = await key(keysOf(agentId), { role: 'admin', expires_at: soon })
  clock.advance(2000)
  const stranger = await gateway.headers('stranger@example.com')
  const comeAs = async (email: string) => {
    const agents = [{ id: agentId, role: 'owner' }]
    const body = { email, agents }
    const invited = await app.call<{ url: string }>('POST', '/api/invitations', { headers: owner, body })
    const token = invited.body.url.split('#invitation=')[1] ?? ''
    const redeemed = await redeem(app, token, await gateway.headers(email))
    expect(redeemed.status).toBe(200)
    return cookieOf(redeemed)
  }
  const ownPage = await comeAs('guest@example.com')
  const { cookie = '' } = ownPage
  const unproved = await comeAs('unproved@example.com')
  await boundSessions(app, { email: 'unproved@example.com', agentId, role: 'owner' })
  const chatKey = await key(keysOf(agentId), { role: 'chat' })
  const adminKey = await key(keysOf(agentId), { role: 'admin' })
  const isKey = true
  Object.assign(kinds, {
    nobody: { headers: {}, power: 'nothing' },
    stranger: { headers: stranger, power: 'nothing', isUser: true },
    'person whose role was taken away': { headers: former.headers, power: 'nothing', isUser: true },
    chat: { headers: (await give('chat@example.com', 'chat')).headers, power: 'chat', isUser: true },
    viewer: { headers: (await give('viewer@example.com', 'viewer')).headers, power: 'viewer', isUser: true },
    admin: { headers: (await give('admin@example.com', 'admin')).headers, power: 'admin', isUser: true },
    owner: { headers: owner, power: 'owner', isUser: true },
    'token for another audience': {
      headers: await gateway.headers('owner@example.com', { aud: ['other'] }),
      power: 'refused',
    },
    'chat key': { headers: chatKey, power: 'chat', isKey },
    'viewer key': { headers: await key(keysOf(agentId), { role: 'viewer' }), power: 'viewer', isKey },
    'admin key': { headers: adminKey, power: 'admin', isKey },
    'expired key': { headers: expired, power: 'refused' },
    'revoked key': { headers: { authorization: revoked.authorization }, power: 'refused' },
    'unknown key': { headers: { authorization: `Bearer ${newApiKey('agent')}` }, power: 'refused' },
    'key with a typing error': { headers: { authorization: 'Bearer asp_0' }, power: 'refused' },
    'key of another agent': { headers: await key(keysOf(other), { role: 'admin' }), power: 'nothing', isKey },
    'key of a removed creator': { headers: keyOfFormer, power: 'nothing', isKey },
    'personal key': { headers: await key(personal, {}), power: 'owner', isUser: true, isKey },
    'personal key for reading': { headers: await key(personal, { role: 'viewer' }), power: 'viewer', isKey },
    'personal key for another agent': {
      headers: await key(personal, { agents: [other] }),
      power: 'nothing',
      isKey,
    },
    'personal key of a removed person': { headers: personalOfFormer, power: 'nothing', isUser: true, isKey },
    'key beside a token': { headers: { ...stranger, ...adminKey }, power: 'admin', isKey },
    'revoked key beside a token': {
      headers: { ...owner, authorization: revoked.authorization },
      power: 'refused',
    },
    'token beside another bearer': {
      headers: { ...owner, authorization: 'Bearer none' },
      power: 'owner',
      isUser: true,
    },
    cookie: { headers: ownPage, power: 'owner', isUser: true },
    'cookie from a foreign origin': {
      headers: { cookie, origin: 'https://else.example', 'sec-fetch-site': 'cross-site' },
      power: 'nothing',
    },
    'cookie without a proof': { headers: unproved, power: 'owner', isBounded: true },
    'cookie from no page': { headers: { cookie }, power: 'nothing' },
    'key beside a cookie': { headers: { ...ownPage, ...chatKey }, power: 'chat', isKey },
    'revoked key beside a cookie': {
      headers: { ...ownPage, authorization: revoked.authorization },
      power: 'refused',
    },
    'token beside a cookie': { headers: { ...ownPage, ...stranger }, power: 'nothing', isUser: true },
  } satisfies Record<string, Kind>)
})

afterAll(async () => {
  await app.close()
  await gateway.close()
})

/** The calls of the API, with a body that nobody could read where they may change something. */
async function send(on: TestApp, { route }: RouteRule, id: string, headers: Headers): Promise<Answer> {
  const [method = '', path = ''] = route.split(' ')
  const url = path.replace(':id', id).replaceAll(/:\w+/g, 'x')
  if (method !== 'GET')
    return await on.call(method, url, {
      headers: { ...headers, 'content-type': 'application/json' },
      payload: '{ no JSON',
    })
  // Some answers are streams without an end.
  const answer = await on.service.app.inject({ method, url, headers, payloadAsStream: true })
  const { statusCode: status } = answer
  if (status < 400)
    answer
      .stream()
      .on('error', () => {})
      .destroy()
  return { status, headers: {}, body: status < 400 ? undefined : await readBody(answer.stream()) }
}

async function readBody(stream: Readable): Promise<unknown> {
  const body = await text(stream)
  return body.startsWith('{') ? JSON.parse(body) : body
}

function outcomeOf({ status, body }: Answer): 'let in' | 'forbidden' | 'refused' {
  const { code } = Object(Object(body).error) as { code?: string }
  if (code === 'UNAUTHORIZED') return 'refused'
  return status === 403 ? 'forbidden' : 'let in'
}

function expectedOf({ least, isOpenToChat, isOpenToKeys }: RouteRule, kind: Kind) {
  const { power, isUser, isKey, isBounded } = kind
  if (power === 'refused') return 'refused'
  const levels: readonly string[] = agentLevels
  const isEnough = () => (power === 'chat' ? isOpenToChat : levels.indexOf(power) >= levels.indexOf(least))
  const isAllowed =
    { open: true, proven: true, anyone: true, user: isUser === true }[least as string] ?? isEnough()
  // Invitations and sign-outs are open to all who sign in.
  const isLasting = !isOpenToKeys && (isKey || (isBounded && levels.includes(least)))
  return isAllowed && !isLasting ? 'let in' : 'forbidden'
}

/** Those of the OpenAI door find their agent in the body, and are tested there. */
const rules = routeRules.filter(({ least, route }) => least !== 'open' && !route.includes('/api/openai/'))
/** Every tenth on PostgreSQL, but for the full figures: who may call what is one code for both engines. */
const rulesHere = () =>
  app.service.infrastructure.isExclusive || isFullEndurance
    ? rules
    : rules.filter((_, index) => index % 10 === 0)

describe('the table of who may call which route', () => {
  it('has a line for every route, which says what the route declares', () => {
    const declared = app.routes
      .filter(({ method }) => method !== 'HEAD')
      .map(({ method, url, config: { access, chat = false, byKey = true } }) => ({
        route: `${method} ${url}`,
        isOpenToChat: chat,
        isOpenToKeys: byKey,
        least: access,
      }))
    const written = routeRules.map(rule => ({
      ...rule,
      least: rule.least === 'proven' ? 'anyone' : rule.least,
    }))
    const byRoute = (one: { route: string }, other: { route: string }) => (one.route < other.route ? -1 : 1)
    expect(written.toSorted(byRoute)).toEqual(declared.toSorted(byRoute))
  })

  it('is what every kind of caller meets', async () => {
    const wrong: string[] = []
    for (const [name, kind] of Object.entries(kinds))
      for (const rule of rulesHere()) {
        const expected = expectedOf(rule, kind)
        const outcome = outcomeOf(await send(app, rule, agentId, kind.headers))
        // A signature that is missing is refused in the same way.
        const isSigned = signedRoutes.includes(rule.route) && outcome === 'refused'
        if (outcome !== expected && !isSigned)
          wrong.push(`${name}: ${rule.route} is ${outcome}, not ${expected}`)
      }
    expect(wrong).toEqual([])
  })
})

it('what a signature decides is refused without one', async () => {
  for (const id of [agentId, 'none'])
    for (const rule of rules.filter(({ route }) => signedRoutes.includes(route)))
      expect([rule.route, (await send(app, rule, id, {})).status]).toEqual([rule.route, 401])
})

describe('on the default agent callers without a user', () => {
  it.each([
    ['read', ['viewer']],
    ['chat', ['viewer', 'chatter']],
    ['full', ['viewer', 'chatter', 'admin']],
  ])('with PUBLIC_ACCESS=%s may do what it says', async (publicAccess, levels) => {
    const open = await buildApp({ environment: { PUBLIC_ACCESS: publicAccess } })
    const wrong: string[] = []
    for (const rule of rulesHere().filter(({ route }) => route.includes('/api/agents/:id'))) {
      const mayCall = rule.least === 'proven' || levels.includes(rule.least)
      const isForbidden = (await send(open, rule, 'default', {})).status === 403
      if (isForbidden === mayCall) wrong.push(rule.route)
    }
    expect(wrong).toEqual([])
    await open.close()
  })
})
