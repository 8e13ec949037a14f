/** API keys: who makes them, what they may do, and when they end. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newApiKey } from '#platform/api-key.ts'
import { required } from '#platform/errors.ts'
import { giveRole, makeAgent } from '#test/support/agents.ts'
import { buildApp, type TestApp, testApp } from '#test/support/build-app.ts'
import { eventually } from '#test/support/eventually.ts'
import { type Gateway, startGateway } from '#test/support/gateway.ts'
import { type ManualClock, manualClock } from '#test/support/manual-clock.ts'
import { createKeysRepository } from './keys/keys.repository.ts'

type Headers = Record<string, string>
interface Made {
  id: string
  key: string
  [field: string]: unknown
}

let gateway: Gateway
let app: TestApp
let clock: ManualClock
let headersOf: (email: string) => Promise<Headers>
let owner: Headers
let admin: Headers
let agentId: string

beforeAll(async () => {
  gateway = await startGateway()
  clock = manualClock(new Date().toISOString())
  app = await buildApp({ environment: gateway.environment, clock })
  // The clock moves on by days.
  const exp = Math.floor(Date.now() / 1000) + 30 * 86_400
  headersOf = email => gateway.headers(email, { exp })
  owner = await headersOf('owner@example.com')
  admin = await headersOf('admin@example.com')
  agentId = await makeAgent(app, { headers: owner })
  await giveRole(app, agentId, { email: 'admin@example.com', role: 'admin', headers: owner })
})

afterAll(async () => {
  await app.close()
  await gateway.close()
})

const bearer = (key: string): Headers => ({ authorization: `Bearer ${key}` })

/** Makes a key; without an agent, a personal one. */
async function makeKey(headers: Headers, body: object, agent?: string): Promise<Made> {
  const path = agent === undefined ? '/api/auth/keys' : `/api/agents/${agent}/keys`
  const answer = await app.call<Made>('POST', path, { headers, body: { name: 'CI', ...body } })
  expect(answer).toMatchObject({ status: 201 })
  return answer.body
}

async function status(headers: Headers, method = 'GET', path = `/api/agents/${agentId}`, body?: object) {
  return (await app.call(method, path, { headers, ...(body && { body }) })).status
}

it('a key takes no fields but its own, whatever else is sent', async () => {
  const foreign = {
    creator: 'owner@example.com',
    agent_id: 'default',
    hash: 'x',
    revoked_at: null,
    id: 'mine',
    surprise: {},
  }
  const made = await makeKey(admin, { role: 'viewer', ...foreign }, agentId)
  expect(made).toMatchObject({ creator: 'admin@example.com', state: 'active' })
  expect(made.id).not.toBe('mine')
  expect(await status(bearer(made.key))).toBe(200)
  const path = `/api/agents/${agentId}/keys/${made.id}`
  for (const body of [
    { hash: 'x', agent_id: 'default', previous_hash: 'y' },
    { surprise: {} },
    { name: 'New', revoked_at: 'x' },
  ])
    expect(await status(admin, 'PUT', path, body)).toBe(200)
  expect(await status(admin, 'PUT', path, { creator: 'owner@example.com' })).toBe(400)
  expect(await status(bearer(made.key))).toBe(200)
})

describe.each([
  ['an agent', () => `/api/agents/${agentId}/keys`, 'asa_', { role: 'viewer' }],
  ['a person', () => '/api/auth/keys', 'asp_', {}],
])('the keys of %s', (_whose, pathOf, prefix, given) => {
  it('are created, listed, changed, rotated and deleted', async () => {
    const path = pathOf()
    const body = { name: 'Nightly', rate_per_minute: 500, expires_at: '2099-01-01T01:00+01:00', ...given }
    const created = await app.call<Made>('POST', path, { headers: owner, body })
    const { key, ...shown } = created.body
    expect(created).toMatchObject({
      status: 201,
      body: {
        key: expect.stringMatching(`^${prefix}`),
        hint: key.slice(-4),
        name: 'Nightly',
        state: 'active',
        creator: 'owner@example.com',
        rate_per_minute: 500,
        last_used_at: null,
        previous_until: null,
        expires_at: '2099-01-01T00:00:00.000Z',
      },
    })
    const listed = await app.call<{ keys: Made[] }>('GET', `${path}?search=Nightly&sort=name`, {
      headers: owner,
    })
    expect(listed.body).toMatchObject({ keys: [shown], meta: { total: 1 } })
    expect(JSON.stringify(listed)).not.toContain(key)
    const changed = await app.call('PUT', `${path}/${shown.id}`, {
      headers: owner,
      body: { ...shown, name: 'Daily', expires_at: null },
    })
    expect(changed).toMatchObject({ status: 200, body: { name: 'Daily', expires_at: null } })
    const rotated = await app.call<Made>('POST', `${path}/${shown.id}/rotate`, { headers: owner })
    expect(rotated).toMatchObject({ status: 200, body: { id: shown.id, name: 'Daily' } })
    expect(rotated.body.key).not.toBe(key)
    expect(await app.call('DELETE', `${path}/${shown.id}`, { headers: owner })).toMatchObject({
      body: { success: true },
    })
    const left = await app.call('GET', `${path}?search=Daily`, { headers: owner })
    expect(left.body).toMatchObject({ keys: [{ state: 'revoked' }] })
    expect(await status(owner, 'PUT', `${path}/${shown.id}`, { name: 'Again' })).toBe(409)
  })

  it.each([
    ['no name', { name: '' }],
    ['an unknown role', { role: 'king' }],
    ['an end in the past', { expires_at: '2001-01-01T00:00:00Z' }],
    ['an end that is no time', { expires_at: 'soon' }],
    ['no request a minute', { rate_per_minute: 0 }],
  ])('are refused with %s', async (_what, wrong) => {
    expect(await status(owner, 'POST', pathOf(), { name: 'CI', ...given, ...wrong })).toBe(400)
  })

  it('are kept from others', async () => {
    const other = await headersOf('other@example.com')
    const { id } = (
      await app.call<Made>('POST', pathOf(), { headers: owner, body: { name: 'CI', ...given } })
    ).body
    const missing = pathOf().startsWith('/api/auth') ? 404 : 403
    expect(await status(other, 'DELETE', `${pathOf()}/${id}`)).toBe(missing)
    expect(await status(other, 'POST', `${pathOf()}/${id}/rotate`)).toBe(missing)
    expect(await status({}, 'POST', pathOf(), { name: 'CI', ...given })).toBe(403)
  })
})

describe('a key that is not to be trusted', () => {
  const refused = async (key: string, path = `/api/agents/${agentId}`) => {
    const { status: code, body } = await app.call('GET', path, { headers: bearer(key) })
    return [code, (body as { error: { details?: object } }).error.details]
  }

  it('is 401, and says whether it is wrong, expired or revoked, on every path', async () => {
    const wrong = [401, { reason: 'wrong' }]
    for (const path of ['/api/agents', '/api/nothing', '/api/agents/default', `/api/agents/${agentId}`]) {
      expect(await refused(newApiKey('agent'), path)).toEqual(wrong)
      expect(await refused('asa_typo', path)).toEqual(wrong)
    }
    const ending = await makeKey(
      owner,
      { role: 'viewer', expires_at: new Date(clock.now() + 60_000).toISOString() },
      agentId,
    )
    expect(await status(bearer(ending.key))).toBe(200)
    clock.advance(60_000)
    expect(await refused(ending.key)).toEqual([401, { reason: 'expired' }])
    const revoked = await makeKey(owner, {})
    await app.call('DELETE', `/api/auth/keys/${revoked.id}`, { headers: owner })
    expect(await refused(revoked.key)).toEqual([401, { reason: 'revoked' }])
  })

  it('counts for as long after a rotation as was said', async () => {
    const first = await makeKey(owner, { role: 'viewer' }, agentId)
    const rotate = (body: object) =>
      app.call<Made>('POST', `/api/agents/${agentId}/keys/${first.id}/rotate`, { headers: owner, body })
    const second = await rotate({ overlap_hours: 24 })
    expect([await status(bearer(first.key)), await status(bearer(second.body.key))]).toEqual([200, 200])
    clock.advance(24 * 3_600_000)
    expect(await refused(first.key)).toEqual([401, { reason: 'revoked' }])
    const third = await rotate({})
    expect([await status(bearer(second.body.key)), await status(bearer(third.body.key))]).toEqual([401, 200])
    expect((await rotate({ overlap_hours: 25 })).status).toBe(400)
  })

  it('does not count on with the rights of another person who rotates it', async () => {
    const eve = await headersOf('eve@example.com')
    const role = await giveRole(app, agentId, { email: 'eve@example.com', role: 'admin', headers: owner })
    const { id, key } = await makeKey(eve, { role: 'admin' }, agentId)
    expect((await app.call('DELETE', role, { headers: owner })).status).toBe(200)
    expect(await status(bearer(key))).toBe(403)
    const path = `/api/agents/${agentId}/keys/${id}/rotate`
    const rotate = (body: object) => app.call('POST', path, { headers: owner, body })
    expect(await rotate({ overlap_hours: 1 })).toMatchObject({
      status: 400,
      body: { error: { details: { field: 'overlap_hours' } } },
    })
    expect(await status(bearer(key))).toBe(403)
    expect((await rotate({})).status).toBe(200)
    expect(await status(bearer(key))).toBe(401)
  })

  it('among many rotations at once leaves one key', async () => {
    const first = await makeKey(owner, { role: 'viewer' }, agentId)
    const answers = await Promise.all(
      Array.from({ length: 100 }, () =>
        app.call<Made>('POST', `/api/agents/${agentId}/keys/${first.id}/rotate`, { headers: owner }),
      ),
    )
    const keys = answers.flatMap(({ status: code, body }) => (code === 200 ? [body.key] : []))
    expect(answers.every(({ status: code }) => code === 200 || code === 409)).toBe(true)
    const works = await Promise.all([first.key, ...keys].map(key => status(bearer(key))))
    expect(works.filter(code => code === 200)).toHaveLength(1)
  })
})

it('a key that was rotated or revoked meanwhile is changed by nobody who read it before', async () => {
  const repository = createKeysRepository(app.service.infrastructure.platform)
  const { id } = await makeKey(owner, { role: 'viewer' }, agentId)
  const read = async () => required(await repository.find({ agentId }, id), 'key')
  const former = await read()
  const change = async (row: typeof former, changes: Partial<typeof former>) =>
    (await repository.change(row, () => changes)) !== undefined
  expect(await change(former, { hash: 'other', previous_hash: former.hash })).toBe(true)
  expect(await change(former, { hash: 'another' })).toBe(false)
  const rotated = await read()
  expect(await change(rotated, { revoked_at: 'now' })).toBe(true)
  expect(await change(rotated, { name: 'Again' })).toBe(false)
  expect(await read()).toEqual({ ...rotated, revoked_at: 'now' })
})

describe('what proves a caller', () => {
  it.each([
    ['a bearer of something else', { authorization: 'Bearer none' }],
    ['a bearer of nothing', { authorization: 'Bearer' }],
    ['another scheme', { authorization: `Basic ${newApiKey('agent')}` }],
    ['another header', { 'x-api-key': newApiKey('agent') }],
    ['a cookie', { cookie: `key=${newApiKey('agent')}` }],
  ])('is not %s', async (_what, headers) => {
    expect(await status(headers, 'GET', '/api/agents/default')).toBe(200)
    expect(await status(headers, 'GET', `/api/agents/${agentId}?key=${newApiKey('agent')}`)).toBe(403)
  })

  it('is a key before the token of the gateway', async () => {
    const { key } = await makeKey(owner, { role: 'viewer' }, agentId)
    const both = { ...(await headersOf('stranger@example.com')), ...bearer(key) }
    expect(await status(both)).toBe(200)
    expect(await status({ ...owner, ...bearer(newApiKey('agent')) })).toBe(401)
    const me = await app.call('GET', '/api/auth/me', { headers: both })
    expect(me.body).toMatchObject({ user: null, via: 'key' })
  })

  it('is told from a JWT by its prefix where both come in Authorization', async () => {
    const environment = { ...gateway.environment, GATEWAY_HEADER: 'Authorization' }
    const behind = await testApp({ environment })
    const [token = ''] = Object.values(owner)
    const signedIn = { authorization: `Bearer ${token}` }
    const { body } = await behind.call<Made>('POST', '/api/auth/keys', {
      headers: signedIn,
      body: { name: 'CI' },
    })
    const me = async (value: string) =>
      (await behind.call('GET', '/api/auth/me', { headers: { authorization: value } })).body
    expect(await me(`bearer   ${body.key}`)).toMatchObject({
      user: { email: 'owner@example.com' },
      via: 'key',
    })
    expect(await me(`Bearer ${token}`)).toMatchObject({ via: 'gateway' })
    expect(await me('Bearer none')).toMatchObject({ error: { code: 'UNAUTHORIZED' } })
  })
})

describe('a key may do', () => {
  it.each([
    ['viewer', [200, 403, 403, 403]],
    ['admin', [200, 200, 403, 403]],
    ['chat', [403, 403, 403, 403]],
  ])('with the role %s what its row says', async (role, statuses) => {
    const headers = bearer((await makeKey(admin, { role }, agentId)).key)
    const path = `/api/agents/${agentId}`
    expect([
      await status(headers, 'GET', path),
      await status(headers, 'PUT', `${path}/settings`, { llm_temperature: 1 }),
      await status(headers, 'DELETE', path),
      await status(headers, 'GET', '/api/agents/default'),
    ]).toEqual(statuses)
    expect((await app.call('GET', '/api/agents', { headers })).body).toMatchObject({
      agents: [{ id: agentId }],
    })
    expect((await app.call('GET', '/api/auth/agents', { headers })).body).toMatchObject({
      agents: [{ id: agentId }],
    })
  })

  it('nothing with keys, admins, and agents that are to be created', async () => {
    const keys = [await makeKey(owner, { role: 'admin' }, agentId), await makeKey(owner, {})]
    for (const { key } of keys)
      for (const [method, path, body] of [
        ['GET', `/api/agents/${agentId}/keys`],
        ['POST', `/api/agents/${agentId}/keys`, { name: 'More', role: 'chat' }],
        ['GET', '/api/auth/keys'],
        ['POST', '/api/auth/keys', { name: 'More' }],
        ['POST', `/api/agents/${agentId}/admins`, { email: 'x@example.com', role: 'owner' }],
      ] as const)
        expect([path, await status(bearer(key), method, path, body)]).toEqual([path, 403])
    const newAgent = (key: string) =>
      status(bearer(key), 'POST', '/api/agents', { name: `made-${key.slice(-4)}` })
    expect(await newAgent(keys[0]?.key ?? '')).toBe(403)
    expect(await newAgent(keys[1]?.key ?? '')).toBe(201)
    expect(await newAgent((await makeKey(owner, { role: 'admin' })).key)).toBe(403)
  })

  it('as a personal one what its person may, within its role and agents', async () => {
    const other = await makeAgent(app, { headers: owner })
    const other403 = async (body: object) => {
      const headers = bearer((await makeKey(owner, body)).key)
      const put = (id: string) => status(headers, 'PUT', `/api/agents/${id}/settings`, { llm_temperature: 1 })
      return [await put(agentId), await put(other), await status(headers, 'GET', '/api/agents/default')]
    }
    expect(await other403({})).toEqual([200, 200, 200])
    expect(await other403({ role: 'viewer' })).toEqual([403, 403, 200])
    expect(await other403({ agents: [other] })).toEqual([403, 200, 403])
    expect(await status(owner, 'POST', '/api/auth/keys', { name: 'CI', agents: ['none'] })).toBe(400)
  })

  it('no more than its creator may now', async () => {
    const email = 'leaver@example.com'
    const leaver = await headersOf(email)
    const entry = await giveRole(app, agentId, { email, role: 'admin', headers: owner })
    const keys = [await makeKey(leaver, { role: 'admin' }, agentId), await makeKey(leaver, {})]
    const statuses = async () => {
      const all = []
      for (const { key } of keys)
        for (const [method, body] of [['GET'], ['PUT', { description: 'Changed' }]] as const)
          all.push(await status(bearer(key), method, undefined, body))
      return all
    }
    expect(await statuses()).toEqual([200, 200, 200, 200])
    await app.call('DELETE', entry, { headers: owner })
    expect(await statuses()).toEqual([403, 403, 403, 403])
    await giveRole(app, agentId, { email, role: 'viewer', headers: owner })
    expect(await statuses()).toEqual([200, 403, 200, 403])
  })
})

it('the use of a key is noted once a minute', async () => {
  const { id, key } = await makeKey(owner, { role: 'viewer' }, agentId)
  const lastUse = async () => {
    const { body } = await app.call<{ keys: Made[] }>('GET', `/api/agents/${agentId}/keys`, {
      headers: owner,
    })
    return body.keys.find(one => one.id === id)?.last_used_at
  }
  const first = new Date(clock.now()).toISOString()
  await status(bearer(key))
  await eventually(async () => expect(await lastUse()).toBe(first))
  clock.advance(59_000)
  await status(bearer(key))
  clock.advance(1_000)
  await status(bearer(key))
  await eventually(async () => expect(await lastUse()).toBe(new Date(clock.now()).toISOString()))
})

it('a key with a limit of its own counts against that, and not against its address', async () => {
  const limited = await testApp({ environment: { DEV_USER: 'dev@example.com', RATE_LIMIT_GENERAL: '3' } })
  const make = async (rate_per_minute: number | null) => {
    const body = { name: 'CI', rate_per_minute }
    return (await limited.call<Made>('POST', '/api/auth/keys', { body, from: '192.0.2.9' })).body
  }
  const own = await make(5)
  const none = await make(null)
  const send = async (headers: Headers) => {
    const answer = await limited.call('GET', '/api/agents', { headers, from: '192.0.2.7' })
    return [answer.status, answer.headers['x-ratelimit-limit']]
  }
  const all = []
  for (let n = 0; n < 4; n += 1) all.push(await send({}))
  expect(all.at(-1)).toEqual([429, '3'])
  expect(await send(bearer(none.key))).toEqual([429, '3'])
  for (let n = 0; n < 5; n += 1) expect(await send(bearer(own.key))).toEqual([200, '5'])
  expect(await send(bearer(own.key))).toEqual([429, '5'])
})

it('a key appears in no log line and no error', async () => {
  const { key } = await makeKey(owner, { role: 'viewer' }, agentId)
  const headers = bearer(key)
  const said = [
    await app.call('GET', `/api/${key}`, { headers }),
    await app.call('GET', `/api/agents/${agentId}?sort=${key}`, { headers }),
    await app.call('POST', '/api/auth/keys', { headers: owner, body: { name: 'CI', expires_at: key } }),
    await app.call('POST', '/api/auth/keys', { headers: owner, body: { name: 'CI', agents: [key] } }),
  ]
  app.service.infrastructure.log.error({ err: new Error(`failed with ${key}`) }, `failed with ${key}`)
  expect(`${JSON.stringify(said)}${app.logged.join('')}`).not.toContain(key)
  expect(app.logged.at(-1)).toContain(`asa_…${key.slice(-4)}`)
})

it('keys outlive a restart, and go with their agent', async () => {
  const own = await testApp({ environment: gateway.environment })
  const id = await makeAgent(own, { headers: owner })
  const body = { name: 'CI', role: 'admin' }
  const { key } = (await own.call<Made>('POST', `/api/agents/${id}/keys`, { headers: owner, body })).body
  const read = async () => (await own.call('GET', `/api/agents/${id}`, { headers: bearer(key) })).status
  expect(await read()).toBe(200)
  await own.call('DELETE', `/api/agents/${id}`, { headers: owner })
  expect(await read()).toBe(401)
})
