/** What callers without a user may do before and after the first sign-in, and people with a role beside them. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { giveRole } from '#test/support/agents.ts'
import { buildApp, type TestApp, testApp } from '#test/support/build-app.ts'
import { type Gateway, startGateway } from '#test/support/gateway.ts'
import { forgetStorage } from '#test/support/postgres/environment.ts'
import { signInByOperator } from '#test/support/sign-in.ts'
import { temporaryDirectory } from '#test/support/temporary-directory.ts'
import { createAccessRepository } from './access.repository.ts'
import { roles } from './policy.ts'

type Headers = Record<string, string>
type Open = 'full' | 'chat' | 'read'

const agent = '/api/agents/default'

/** The roles and public permissions by which each call is let in. */
const calls: [call: string, roles: string, open: string][] = [
  [`GET ${agent}`, 'viewer admin owner', 'read chat full'],
  [`GET ${agent}/contacts`, 'viewer admin owner', 'read chat full'],
  [`GET ${agent}/chat/tools`, 'viewer admin owner', 'read chat full'],
  [`GET ${agent}/chat/conversations`, 'chat viewer admin owner', 'read chat full'],
  [`POST ${agent}/chat`, 'chat admin owner', 'chat full'],
  [`POST ${agent}/chat/conversations`, 'chat admin owner', 'chat full'],
  [`POST ${agent}/chat/turns/x/stop`, 'chat admin owner', 'chat full'],
  [`POST ${agent}/chat/approvals/x`, 'chat admin owner', 'full'],
  [`PUT ${agent}`, 'admin owner', 'full'],
  [`PUT ${agent}/settings`, 'admin owner', 'full'],
  [`POST ${agent}/sql/execute`, 'admin owner', 'full'],
  [`DELETE ${agent}/chat/messages/x`, 'admin owner', 'full'],
  [`DELETE ${agent}/contacts/x`, 'admin owner', 'full'],
  [`GET ${agent}/usage`, 'admin owner', 'full'],
  [`GET ${agent}/keys`, 'admin owner', 'full'],
  [`POST ${agent}/admins`, 'owner', ''],
  [`DELETE ${agent}/admins/x`, 'owner', ''],
]

/** The calls that are let in, with a body that nobody could read. */
async function allowedTo(app: TestApp, headers: Headers): Promise<string[]> {
  const allowed: string[] = []
  for (const [call] of calls) {
    const [method = '', path = ''] = call.split(' ')
    const json = { ...headers, 'content-type': 'application/json' }
    const sent = method === 'GET' ? { headers } : { headers: json, payload: '{ no JSON' }
    if ((await app.call(method, path, sent)).status !== 403) allowed.push(call)
  }
  return allowed
}

const expected = (role: string, open: string) =>
  calls
    .filter(([, byRole, byAll]) => byRole.split(' ').includes(role) || byAll.split(' ').includes(open))
    .map(([call]) => call)

/** What the service says that strangers may do. */
async function publicAccessOf(app: TestApp): Promise<string> {
  return (await app.call<{ public_access: string }>('GET', '/api/auth/me')).body.public_access
}

let gateway: Gateway
let app: TestApp

beforeAll(async () => {
  gateway = await startGateway()
  app = await buildApp()
})

afterAll(async () => {
  await app.close()
  await gateway.close()
})

it('before anybody has signed in, callers without a user administer "default"', async () => {
  expect(await publicAccessOf(app)).toBe('full')
  expect(await allowedTo(app, {})).toEqual(expected('', 'full'))
})

/** Everyone in one service: a caller without a user, a person without a role, and one for each role on `default`. */
async function peopleOf(on: TestApp): Promise<Record<string, Headers>> {
  const owner = await signInByOperator(on, 'owner@localhost')
  const people: Record<string, Headers> = { owner, '': await signInByOperator(on, 'none@example.com') }
  for (const role of ['chat', 'viewer', 'admin'] as const) {
    const email = `${role}@example.com`
    await giveRole(on, 'default', { email, role, headers: owner })
    people[role] = await signInByOperator(on, email)
  }
  return people
}

describe.each<[Open, environment: Headers | undefined]>([
  ['chat', undefined],
  ['full', { PUBLIC_ACCESS: 'full' }],
  ['chat', { PUBLIC_ACCESS: 'chat' }],
  ['read', { PUBLIC_ACCESS: 'read' }],
])('after sign-ins strangers have "%s" with %j, and', (open, environment) => {
  it('nobody with a role may do less, so that losing a role never gives more', async () => {
    const on = environment === undefined ? app : await testApp({ environment })
    const people = await peopleOf(on)
    expect(await publicAccessOf(on)).toBe(open)
    expect(await allowedTo(on, {})).toEqual(expected('', open))
    for (const [role, headers] of Object.entries(people))
      expect([role, await allowedTo(on, headers)]).toEqual([role, expected(role, open)])
  })

  it('the power in a list of agents is what the person may do', async () => {
    const on = environment === undefined ? app : await testApp({ environment })
    const people = environment === undefined ? undefined : await peopleOf(on)
    const powers: Record<string, unknown> = {}
    for (const role of roles) {
      const headers =
        people?.[role] ??
        (await signInByOperator(on, role === 'owner' ? 'owner@localhost' : `${role}@example.com`))
      const { body } = await on.call<{ agents: { power: string }[] }>('GET', '/api/auth/agents', { headers })
      powers[role] = body.agents[0]?.power
    }
    const least = { full: 'admin', chat: 'chatter', read: 'viewer' }[open]
    expect(powers).toEqual({
      owner: 'owner',
      admin: 'admin',
      viewer: least,
      chat: open === 'full' ? 'admin' : 'chatter',
    })
  })
})

it('with a gateway it stays as it was, and nobody with a role may do less', async () => {
  const on = await testApp({ environment: gateway.environment })
  const repository = createAccessRepository(on.service.infrastructure.platform)
  for (const role of roles)
    await repository.insertAdmin('default', {
      id: role,
      email: `${role}@example.com`,
      role,
      created_at: '2026-01-01T00:00:00.000Z',
    })
  await signInByOperator(on, 'eve@example.com')
  expect(await publicAccessOf(on)).toBe('full')
  for (const role of ['', ...roles]) {
    const headers = await gateway.headers(`${role || 'none'}@example.com`)
    expect([role, await allowedTo(on, headers)]).toEqual([role, expected(role, 'full')])
  }
})

it('with DEV_USER it stays as it was', async () => {
  const on = await testApp({ environment: { DEV_USER: 'dev@example.com' } })
  await signInByOperator(on, 'eve@example.com')
  expect(await publicAccessOf(on)).toBe('full')
})

it("a key of a person whose role is lowered keeps the key's own bound", async () => {
  const owner = await signInByOperator(app, 'owner@localhost')
  const keyOf = async (role: string, headers: Headers) => {
    const body = { name: 'CI', role }
    const { body: made } = await app.call<{ key: string }>('POST', '/api/auth/keys', { headers, body })
    return { authorization: `Bearer ${made.key}` }
  }
  const headers = await signInByOperator(app, 'key@example.com')
  const entry = await giveRole(app, 'default', { email: 'key@example.com', role: 'admin', headers: owner })
  const [chat, viewer, admin] = [
    await keyOf('chat', headers),
    await keyOf('viewer', headers),
    await keyOf('admin', headers),
  ]
  const bounded = async (by: Headers) => {
    const notByKey = (call: string) => !/\/(keys|admins)/.test(call)
    return (await allowedTo(app, by)).filter(notByKey)
  }
  const only = (role: string) => expected(role, '').filter(call => !/\/(keys|admins)/.test(call))
  expect(await bounded(chat)).toEqual(only('chat'))
  expect(await bounded(viewer)).toEqual(only('viewer'))
  expect(await bounded(admin)).toEqual(only('admin'))
  expect((await app.call('DELETE', entry, { headers: owner })).status).toBe(200)
  expect(await bounded(chat)).toEqual(only('chat'))
  expect(await bounded(viewer)).toEqual(only('viewer'))
  expect(await bounded(admin)).toEqual(expected('', 'chat'))
})

it('the first sign-in counts at once everywhere, without its session, and after a restart', async () => {
  const dataDirectory = temporaryDirectory()
  onTestFinished(() => forgetStorage(dataDirectory))
  const first = await buildApp({ dataDirectory })
  const { platform, isExclusive } = first.service.infrastructure
  // A second process, where the engine has room for one.
  const second = isExclusive ? undefined : await buildApp({ dataDirectory })
  const all = second === undefined ? [first] : [first, second]
  for (const each of all) expect(await publicAccessOf(each)).toBe('full')
  await signInByOperator(first, 'eve@example.com')
  for (const each of all) expect(await publicAccessOf(each)).toBe('chat')
  await platform.deleteFrom('sessions').execute()
  for (const each of all) await each.close()
  const again = await testApp({ dataDirectory })
  expect(await publicAccessOf(again)).toBe('chat')
  expect(await allowedTo(again, {})).toEqual(expected('', 'chat'))
})

it('a role on "default" that came with a copy of that agent says that people sign in', async () => {
  const on = await testApp()
  await createAccessRepository(on.service.infrastructure.platform).insertAdmin('default', {
    id: 'copied',
    email: 'ada@example.com',
    role: 'owner',
    created_at: '2026-01-01T00:00:00.000Z',
  })
  expect(await publicAccessOf(on)).toBe('chat')
})
