/** Who answers for a key of an agent after another person has changed it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { giveRole, makeAgent } from '#test/support/agents.ts'
import { buildApp, type TestApp } from '#test/support/build-app.ts'
import { type Gateway, startGateway } from '#test/support/gateway.ts'

type Headers = Record<string, string>
type Values = Record<string, unknown>

let gateway: Gateway
let app: TestApp
let owner: Headers
let maker: Headers
let raiser: Headers
let agent: string
let entry: string

const [ada, grace] = ['ada@example.com', 'grace@example.com']

beforeAll(async () => {
  gateway = await startGateway()
  app = await buildApp({ environment: gateway.environment })
  owner = await gateway.headers('owner@example.com')
  maker = await gateway.headers(ada)
  raiser = await gateway.headers(grace)
  const id = await makeAgent(app, { headers: owner })
  agent = `/api/agents/${id}`
  entry = await giveRole(app, id, { email: ada, role: 'admin', headers: owner })
  await giveRole(app, id, { email: grace, role: 'admin', headers: owner })
})

afterAll(async () => {
  await app.close()
  await gateway.close()
})

async function makeKey(body: Values, path = `${agent}/keys`, headers = maker) {
  const made = await app.call<{ id: string; key: string }>('POST', path, {
    headers,
    body: { name: 'CI', ...body },
  })
  expect(made).toMatchObject({ status: 201 })
  return { path: `${path}/${made.body.id}`, bearer: { authorization: `Bearer ${made.body.key}` } }
}

const [soon, later] = ['2098-01-01T00:00:00.000Z', '2099-01-01T00:00:00.000Z']
const raises: Record<string, [from: unknown, to: unknown][]> = {
  role: [
    ['chat', 'viewer'],
    ['viewer', 'chat'],
    ['chat', 'admin'],
    ['viewer', 'admin'],
  ],
  expires_at: [
    [soon, later],
    [soon, null],
  ],
  monthly_tokens: [
    [9, 10],
    [10, null],
  ],
  monthly_usd: [
    ['9', '10'],
    ['9.50', '9.6'],
    ['10', null],
  ],
  rate_per_minute: [
    [9, 10],
    [10, null],
    [null, 1],
  ],
}
const leaves: Record<string, [from: unknown, to: unknown][]> = {
  name: [['CI', 'Nightly']],
  role: [
    ['admin', 'viewer'],
    ['admin', 'chat'],
    ['viewer', 'viewer'],
  ],
  expires_at: [
    [later, soon],
    [null, later],
    [soon, '2098-01-01T01:00:00+01:00'],
    [null, null],
  ],
  monthly_tokens: [
    [10, 9],
    [null, 10],
    [10, 10],
    [null, null],
  ],
  monthly_usd: [
    ['10', '9'],
    [null, '10'],
    ['9.5', '9.50'],
    [null, null],
  ],
  rate_per_minute: [
    [10, 9],
    [10, 10],
    [null, null],
  ],
}
const rowsOf = (table: typeof raises, creator: string) =>
  Object.entries(table).flatMap(([field, pairs]) =>
    pairs.map(([from, to]) => [field, from, to, creator] as const),
  )

describe('the person who changes', () => {
  it.each([...rowsOf(raises, grace), ...rowsOf(leaves, ada)])(
    '%s from %j to %j leaves the key with %s',
    async (field, from, to, creator) => {
      const { path } = await makeKey({ role: 'viewer', [field]: from })
      const changed = await app.call<Values>('PUT', path, { headers: raiser, body: { [field]: to } })
      expect(changed).toMatchObject({ status: 200, body: { creator } })
      const { body } = await app.call<{ entries: { changes: Values }[] }>('GET', `${agent}/audit?limit=1`, {
        headers: owner,
      })
      const moved = creator === ada ? undefined : { from: ada, to: grace }
      expect(body.entries[0]?.changes.creator).toEqual(moved)
    },
  )
})

it('one raise among other changes counts, and a key that is sent back as it was read changes nobody', async () => {
  const { path } = await makeKey({ role: 'admin', monthly_tokens: 5 })
  const read = await app.call<{ keys: { id: string }[] }>('GET', `${agent}/keys`, { headers: raiser })
  const body = read.body.keys.find(({ id }) => path.endsWith(id))
  expect(await app.call('PUT', path, { headers: raiser, body })).toMatchObject({
    status: 200,
    body: { creator: ada },
  })
  const changes = { name: 'Less', role: 'chat', monthly_tokens: 6 }
  expect(await app.call('PUT', path, { headers: raiser, body: changes })).toMatchObject({
    status: 200,
    body: { ...changes, creator: grace },
  })
})

it('of many who raise and lower a key at once, the last who raised it answers for it', async () => {
  const { path } = await makeKey({ role: 'viewer', monthly_tokens: 50 })
  const people = { [ada]: maker, [grace]: raiser }
  await Promise.all(
    Array.from({ length: 20 }, (_, at) =>
      app.call('PUT', path, {
        headers: people[at % 2 === 0 ? ada : grace] ?? {},
        body: { monthly_tokens: ((at * 37) % 100) + 1 },
      }),
    ),
  )
  const { body } = await app.call<{ entries: { changes: Values; actor_id: string }[] }>(
    'GET',
    `${agent}/audit?operation=updateAgentKey&limit=20`,
    { headers: owner },
  )
  let [tokens, creator] = [50, ada]
  for (const { changes, actor_id } of body.entries.toReversed()) {
    if (Number(changes.monthly_tokens) > tokens) creator = actor_id
    tokens = Number(changes.monthly_tokens)
  }
  const read = await app.call<{ keys: Values[] }>('GET', `${agent}/keys`, { headers: owner })
  const key = read.body.keys.find(({ id }) => path.endsWith(String(id)))
  expect(key).toMatchObject({ monthly_tokens: tokens, creator })
})

it('a personal key stays with its person, whatever they change', async () => {
  const { path } = await makeKey({ role: 'viewer', expires_at: soon }, '/api/auth/keys')
  expect(await app.call('PUT', path, { headers: maker, body: { role: null, agents: null } })).toMatchObject({
    body: { creator: ada },
  })
  expect((await app.call('PUT', path, { headers: raiser, body: { role: 'owner' } })).status).toBe(404)
})

it('callers without a user lower keys, but raise none', async () => {
  const platform = app.service.infrastructure.platform
  const { path } = await makeKey({ role: 'viewer', monthly_tokens: 5 })
  const id = path.split('/').at(-1) ?? ''
  await platform.updateTable('api_keys').set({ agent_id: 'default' }).where('id', '=', id).execute()
  const change = async (body: Values) =>
    (await app.call('PUT', `/api/agents/default/keys/${id}`, { body })).status
  expect(await change({ monthly_tokens: 4 })).toBe(200)
  expect(await change({ monthly_tokens: 6 })).toBe(403)
  expect(await change({ role: 'admin' })).toBe(403)
})

it('a key ends with the role of who raised it, and not with that of who lowered it', async () => {
  const [raised, lowered] = [await makeKey({ role: 'viewer' }), await makeKey({ role: 'admin' })]
  await app.call('PUT', raised.path, { headers: raiser, body: { role: 'admin' } })
  await app.call('PUT', lowered.path, { headers: raiser, body: { role: 'viewer' } })
  const status = async (headers: Headers) => (await app.call('GET', agent, { headers })).status
  expect((await app.call('DELETE', entry, { headers: owner })).status).toBe(200)
  expect([await status(raised.bearer), await status(lowered.bearer)]).toEqual([200, 403])
  // The key of a person who has lost the role lives again under an admin who raises it.
  expect(
    (await app.call('PUT', lowered.path, { headers: raiser, body: { name: 'Still dead' } })).status,
  ).toBe(200)
  expect(await status(lowered.bearer)).toBe(403)
  await app.call('PUT', lowered.path, { headers: raiser, body: { role: 'admin' } })
  expect(await status(lowered.bearer)).toBe(200)
})
