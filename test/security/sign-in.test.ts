/** Signs in at a real identity provider, and in every way in which nobody may. */
import { decodeJwt, UnsecuredJWT } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { giveRole, makeAgent } from '../support/agents.ts'
import { type Answer, buildApp, type TestApp, testApp } from '../support/build-app.ts'
import {
  type IdentityProvider,
  makeKey,
  signAgain,
  startIdentityProvider,
} from '../support/identity-provider.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const base = 'https://agents.example'
const callback = `${base}/api/auth/callback`

let provider: IdentityProvider
let app: TestApp
let logins = 0

beforeAll(async () => {
  provider = await startIdentityProvider(callback)
  app = await buildApp({
    environment: { ...provider.environment, BASE_URL: base, SIGN_IN_ALLOW: '@example.com' },
  })
})

beforeEach(() => {
  provider.falsify = undefined
})

afterAll(async () => {
  await app.close()
  await provider.stop()
})

function newLogin(): string {
  logins += 1
  return `person${logins}`
}

const cookieOf = ({ headers }: Answer) =>
  [headers['set-cookie']]
    .flat()
    .map(line => String(line).split(';')[0])
    .join('; ')

async function begin(on: TestApp, returnTo = '/') {
  const answer = await on.call('GET', `/api/auth/sign-in?return_to=${encodeURIComponent(returnTo)}`)
  expect(answer).toMatchObject({ status: 302 })
  return { url: String(answer.headers.location), cookie: cookieOf(answer) }
}

/** The browser's last step; `change` alters the address that it was sent to. */
async function signIn(login: string, { on = app, change = (url: string) => url, returnTo = '/' } = {}) {
  const { url, cookie } = await begin(on, returnTo)
  const back = change(await provider.visit(url, login))
  const answer = await on.call<string>('GET', back.slice(base.length), { headers: { cookie } })
  return { ...answer, back, cookie }
}

/** The headers of our own page in the browser that was answered. */
function signedIn(answer: Answer) {
  expect(answer).toMatchObject({ status: 302 })
  const cookie =
    cookieOf(answer)
      .split('; ')
      .find(one => one.includes('-session=')) ?? ''
  return { cookie, origin: base, host: 'agents.example' }
}

async function emailOf(answer: Answer, on = app) {
  const { body } = await on.call<{ user: { email: string } | null }>('GET', '/api/auth/me', {
    headers: signedIn(answer),
  })
  return body.user?.email
}

/** A page with a sentence, a line in the log, and no session. */
function expectRefused(answer: Answer<string>, reason: string, on = app): void {
  expect(answer.status).toBe(reason === 'unreachable' ? 502 : 403)
  expect(answer.body).toMatch(/role="alert">[^<]{20,}\.<\/p>/)
  expect(cookieOf(answer)).not.toContain('-session=')
  const lines = on.logged
    .map(line => JSON.parse(line))
    .filter(({ msg }) => msg.startsWith('refused a sign-in'))
  expect(lines.at(-1)).toMatchObject({ reason })
}

it('somebody who is let in comes back to where they were, and no secret is in a log', async () => {
  const answer = await signIn(newLogin(), { returnTo: '/docs/?a=1#x' })
  expect(answer.headers.location).toBe('/docs/?a=1#x')
  expect(await emailOf(answer)).toBe(`person${logins}@example.com`)
  const { code = '', state = '' } = Object.fromEntries(new URL(answer.back).searchParams)
  for (const secret of [code, state, 'client-secret-4711', cookieOf(answer).split('=')[1] ?? ''])
    expect(app.logged.join('')).not.toContain(secret)
  const again = await app.call<string>('GET', answer.back.slice(base.length), {
    headers: { cookie: answer.cookie },
  })
  expectRefused(again, 'untrusted')
})

describe('nobody is signed in', () => {
  it.each([
    ['with another state', (url: string) => url.replace(/state=[^&]+/, 'state=other')],
    ['without a state', (url: string) => url.replace(/state=[^&]+/, '')],
  ])('%s', async (_how, change) => {
    expectRefused(await signIn(newLogin(), { change }), 'state')
  })

  it('without the cookie of the browser that began, or with that of another beginning', async () => {
    const one = await begin(app)
    const other = await begin(app)
    const back = (await provider.visit(one.url, newLogin())).slice(base.length)
    for (const headers of [{}, { cookie: other.cookie }, { cookie: `${one.cookie.slice(0, -4)}AAAA` }])
      expectRefused(await app.call<string>('GET', back, { headers }), 'state')
    expect((await app.call('GET', back, { headers: { cookie: one.cookie } })).status).toBe(302)
  })

  it.each(['code', 'iss'])('with another %s', async name => {
    const change = (url: string) =>
      url.replace(new RegExp(`${name}=[^&]+`), `${name}=https%3A%2F%2Felse.example`)
    expectRefused(await signIn(newLogin(), { change }), 'untrusted')
  })

  it('with the code of another beginning, whose verifier differs', async () => {
    const other = await provider.visit((await begin(app)).url, newLogin())
    const { code = '' } = Object.fromEntries(new URL(other).searchParams)
    const change = (url: string) => url.replace(/code=[^&]+/, `code=${code}`)
    expectRefused(await signIn(newLogin(), { change }), 'untrusted')
  })

  it.each<[string, Record<string, unknown>]>([
    ['nonce', { nonce: 'other' }],
    ['missing nonce', { nonce: undefined }],
    ['issuer', { iss: 'https://else.example' }],
    ['audience', { aud: 'else' }],
    ['party', { aud: ['agentstead', 'else'], azp: 'else' }],
    ['time', { exp: 1 }],
    ['missing time', { exp: undefined }],
    ['missing subject', { sub: undefined }],
  ])('by a token with a wrong %s', async (_what, changes) => {
    provider.falsify = (token, key) => signAgain(token, key, changes)
    expectRefused(await signIn(newLogin()), 'untrusted')
  })

  it('by a token that is unsigned, altered, or signed with a key of somebody else', async () => {
    const foreign = await makeKey('key-1')
    const forgeries: NonNullable<IdentityProvider['falsify']>[] = [
      async token => new UnsecuredJWT(decodeJwt(token)).encode(),
      async token => token.replace(/\.[^.]+$/, '.'),
      async token => `${token.slice(0, -4)}AAAA`,
      token => signAgain(token, foreign, {}),
      async token =>
        token
          .split('.')
          .toSpliced(1, 1, btoa(JSON.stringify({ ...decodeJwt(token), sub: 'eve' })))
          .join('.'),
      async () => 'no token',
    ]
    for (const forge of forgeries) {
      provider.falsify = forge
      expectRefused(await signIn(newLogin()), 'untrusted')
    }
  })

  it.each([
    ['false', { email_verified: false }, 'email_not_verified'],
    ['absent', { email_verified: undefined }, 'email_not_verified'],
    ['a text', { email_verified: 'true' }, 'email_not_verified'],
    ['of nothing', { email: undefined }, 'no_email'],
    ['of no address', { email: 'nobody' }, 'no_email'],
    ['of a domain that may not enter', { email: 'x@example.com.else.example' }, 'not_admitted'],
  ])('whose verification of an address is %s', async (_what, claims, reason) => {
    const login = newLogin()
    provider.people[login] = claims
    expectRefused(await signIn(login), reason)
  })

  it('by an address that has changed, or is of another account, until the operator vouches for it', async () => {
    const [login, other] = [newLogin(), newLogin()]
    await signIn(login)
    provider.people[login] = { email: 'renamed@example.com' }
    const changed = await signIn(login)
    expectRefused(changed, 'address_changed')
    expect(changed.body).toContain(`${login}@example.com to renamed@example.com`)
    provider.people[other] = { email: `${login}@example.com`.toUpperCase() }
    expectRefused(await signIn(other), 'address_of_another')
  })

  it('while the provider is down; who is signed in stays', async () => {
    const own = await startIdentityProvider(callback)
    const on = await testApp({
      environment: { ...own.environment, BASE_URL: base, SIGN_IN_ALLOW: 'ada@example.com' },
    })
    const { url, cookie } = await begin(on)
    const back = (await own.visit(url, 'ada')).slice(base.length)
    const answer = await on.call('GET', back, { headers: { cookie } })
    await own.stop()
    expect(await emailOf(answer, on)).toBe('ada@example.com')
    const failed = await on.call<string>('GET', '/api/auth/sign-in')
    expectRefused(failed, 'unreachable', on)
  })

  it.each([
    ...[
      'https://else.example',
      'http://else.example/',
      '//else.example',
      '///else.example',
      '////else.example',
    ],
    ...[
      '/\\else.example',
      '\\/else.example',
      '\\\\else.example',
      '/\t/else.example',
      '/\n/else.example',
      '/\r/else.example',
    ],
    ...[
      '\t//else.example',
      ' //else.example',
      '/ /else.example',
      'https:else.example',
      'https:/else.example',
    ],
    ...['javascript:alert(1)', 'JaVaScRiPt:alert(1)', 'data:text/html,x', 'else.example', './/else.example'],
    ...[
      '/.//else.example',
      '/..//else.example',
      '/x/..//else.example',
      '/./\\else.example',
      '/%2f/else.example',
    ],
    ...[
      '/%5celse.example',
      '/%2F%2Felse.example',
      '?//else.example',
      '#//else.example',
      '@else.example',
      ':80',
    ],
    ...[
      '/\u0000/else.example',
      '/\u2028/else.example',
      '/／else.example',
      '',
      '/x\\@else.example',
      '/%09/else.example\\',
    ],
  ])('on the way to %j', async returnTo => {
    const answer = await app.call('GET', `/api/auth/sign-in?return_to=${encodeURIComponent(returnTo)}`)
    expect(answer.status).toBe(400)
    expect(answer.headers.location).toBeUndefined()
    if (returnTo.includes('\0')) return
    expect(answer.body).toMatchObject({
      error: { message: expect.stringContaining('must be a path of this service') },
    })
    expect(app.logged.at(-2)).toContain('leads to another site')
  })
})

it('a way back of up to 2,000 characters is kept, and a longer one refused', async () => {
  const wayOf = (length: number) => `/a?q=${'x'.repeat(length - 5)}`
  const answer = await signIn(newLogin(), { returnTo: wayOf(2000) })
  expect(answer.headers.location).toBe(wayOf(2000))
  // With its name and attributes, less than the 4 kB of which browsers drop a cookie.
  expect(answer.cookie.length).toBeLessThan(3800)
  expect(await app.call('GET', `/api/auth/sign-in?return_to=${wayOf(2001)}`)).toMatchObject({
    status: 400,
    body: { error: { message: expect.stringMatching(/return_to.*2000/) } },
  })
})

it('keys of the provider change without a restart', async () => {
  await signIn(newLogin())
  await provider.rotate()
  expect((await signIn(newLogin())).status).toBe(302)
})

describe('people who are let in', () => {
  /** A service that starts when the agent `handbook` of owner@example.com is there, with roles by groups. */
  async function closed(
    rolesBy = async (_id: string, _platform: TestApp['service']['infrastructure']['platform']) =>
      'staff=default:viewer,a=b:c=handbook:admin,leads=handbook:owner',
  ) {
    const dataDirectory = temporaryDirectory()
    const environment = { ...provider.environment, BASE_URL: base, SIGN_IN_ALLOW: 'owner@example.com' }
    const before = await buildApp({ dataDirectory, environment })
    provider.people.owner = { groups: [] }
    const owner = signedIn(await signIn('owner', { on: before }))
    const id = await makeAgent(before, { headers: owner, name: 'handbook' })
    const groupRoles = await rolesBy(id, before.service.infrastructure.platform)
    await before.close()
    const grouped = { ...environment, OIDC_GROUPS_CLAIM: 'groups', OIDC_ROLES: groupRoles }
    return { on: await testApp({ dataDirectory, environment: grouped }), owner, id }
  }

  /** The roles by the names of agents of a person with the groups; the status of a sign-in that is refused. */
  async function rolesOf(on: TestApp, groups: unknown) {
    provider.people.grouped = { groups }
    const answer = await signIn('grouped', { on })
    if (answer.status === 403) return answer.status
    const own = await on.call<{ agents: { name: string; role: string }[] }>('GET', '/api/auth/agents', {
      headers: signedIn(answer),
    })
    return Object.fromEntries(own.body.agents.map(({ name, role }) => [name, role]))
  }

  it('have the roles of their groups, and no longer once they have left these', async () => {
    const { on, owner, id } = await closed()
    expect(await rolesOf(on, ['strangers'])).toBe(403)
    expect(await rolesOf(on, ['staff', 'a=b:c'])).toEqual({ default: 'viewer', handbook: 'admin' })
    expect(await rolesOf(on, ['a=b:c', 'leads'])).toEqual({ handbook: 'owner' })
    expect(await rolesOf(on, 'staff')).toEqual({ default: 'viewer' })
    await giveRole(on, id, { email: 'grouped@example.com', role: 'viewer', headers: owner })
    expect(await rolesOf(on, ['leads'])).toEqual({ handbook: 'viewer' })
    expect(await rolesOf(on, undefined)).toEqual({ handbook: 'viewer' })
    const { body } = await on.call<{ entries: { changes: object }[] }>(
      'GET',
      '/api/audit?operation=finishSignIn',
      { headers: owner },
    )
    const email = 'grouped@example.com'
    const change = (from: string | null, to: string | null) =>
      expect.objectContaining({
        agent_id: id,
        actor_id: email,
        outcome: 'done',
        changes: { signed_in: email, email, role: { from, to } },
      })
    expect(body.entries).toEqual([
      change('owner', null),
      change('admin', 'owner'),
      change(null, 'admin'),
      expect.objectContaining({ agent_id: null, actor_id: 'owner@example.com', outcome: 'done' }),
    ])
  })

  it('have the roles of their groups on the agents that were meant at the start, whatever they are named since', async () => {
    const created_at = '2026-01-01T00:00:00.000Z'
    const row = { description: '', status: 'active', settings: '{}', created_at, updated_at: created_at }
    const { on, owner, id } = await closed(async (handbook, platform) => {
      // An agent of an earlier build that is named like the id of another.
      await platform
        .insertInto('agents')
        .values({ ...row, id: 'fox', name: handbook, name_key: handbook })
        .execute()
      return `staff=Handbook:viewer,leads=${handbook}:admin,late=later:owner`
    })
    expect(await rolesOf(on, ['staff'])).toEqual({ handbook: 'viewer' })
    const rename = { headers: owner, body: { name: 'manual' } }
    expect((await on.call('PUT', `/api/agents/${id}`, rename)).status).toBe(200)
    for (const name of ['handbook', 'later']) await makeAgent(on, { headers: owner, name })
    expect(await rolesOf(on, ['staff', 'late'])).toEqual({ manual: 'viewer' })
    expect(await rolesOf(on, ['leads'])).toEqual({ manual: 'admin' })
    expect(await rolesOf(on, ['late'])).toBe(403)
  })

  it('stay owners of an agent that has no other, whatever their groups', async () => {
    const { on, id } = await closed()
    const leads = (groups: string[]) => {
      provider.people.lead = { groups }
      return signIn('lead', { on })
    }
    const agent = `/api/agents/${id}`
    const lead = signedIn(await leads(['leads']))
    interface Admins {
      admins: { id: string; email: string; role: string }[]
    }
    const admins = async () =>
      (await on.call<Admins>('GET', `${agent}/admins`, { headers: lead })).body.admins
    const first = (await admins()).find(({ email }) => email === 'owner@example.com')
    expect((await on.call('DELETE', `${agent}/admins/${first?.id}`, { headers: lead })).status).toBe(200)
    for (const groups of [[], ['a=b:c']]) {
      expect((await leads(groups)).status).toBe(302)
      expect(await admins()).toMatchObject([{ email: 'lead@example.com', role: 'owner' }])
      expect(on.logged.join('')).toContain('the last owner of an agent stays')
      const { body } = await on.call('GET', `${agent}/audit?limit=1`, { headers: lead })
      const changes = { role: { from: 'owner', to: 'owner' }, last_owner: 'kept' }
      expect(body).toMatchObject({ entries: [{ operation: 'finishSignIn', changes }] })
    }
    await giveRole(on, id, { email: 'owner@example.com', role: 'owner', headers: lead })
    expect((await leads(['a=b:c'])).status).toBe(302)
    expect((await on.call('DELETE', agent, { headers: lead })).status).toBe(403)
  })

  it('come by an invitation to their own address, and its link alone signs nobody in', async () => {
    const { on, owner, id } = await closed()
    expectRefused(await signIn('guest', { on }), 'not_admitted', on)
    const body = { email: 'Guest@example.com', agents: [{ id, role: 'chat' }] }
    const invited = await on.call<{ url: string }>('POST', '/api/invitations', { headers: owner, body })
    const token = invited.body.url.split('=')[1]
    const redeemed = await on.call('POST', '/api/auth/link', { body: { token } })
    expect(redeemed).toMatchObject({
      status: 403,
      body: { error: { message: expect.stringContaining('guest@example.com') } },
    })
    expectRefused(await signIn('stranger', { on }), 'not_admitted', on)
    expect(await emailOf(await signIn('guest', { on }), on)).toBe('guest@example.com')
    expect((await signIn('guest', { on })).status).toBe(302)
  })
})
