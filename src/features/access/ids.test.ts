/** Every place where a text may name a thing in two ways, and attacks by names and ids on those that decide rights. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { giveRole, makeAgent } from '#test/support/agents.ts'
import { buildApp, type TestApp } from '#test/support/build-app.ts'
import { type Gateway, startGateway } from '#test/support/gateway.ts'

type Headers = Record<string, string>

interface Place {
  takes: string
  settled: string
  /** Answers to a text in this place: the id of the agent that it reached, or the status of a refusal. */
  reach?: (text: string, caller: 'mallory' | 'owner') => Promise<string | number>
}

/** The agents: `victim` is the owner's, `trap` Mallory's and named like an id; `shared` is chatted with by both. */
const ids = { victim: '', trap: '', shared: '' }
const callers: Record<string, Headers> = {}
let gateway: Gateway
let app: TestApp
let rounds = 0

beforeAll(async () => {
  gateway = await startGateway()
  app = await buildApp({ environment: gateway.environment })
  for (const name of ['owner', 'mallory']) callers[name] = await gateway.headers(`${name}@example.com`)
  const { owner = {}, mallory = {} } = callers
  ids.victim = await makeAgent(app, { name: 'victim', headers: owner })
  ids.shared = await makeAgent(app, { name: 'shared', headers: owner })
  ids.trap = await makeAgent(app, { name: 'trap', headers: mallory })
  await giveRole(app, ids.shared, { email: 'mallory@example.com', role: 'chat', headers: owner })
  // Earlier builds let agents be named like the ids of others.
  await app.service.infrastructure.platform
    .updateTable('agents')
    .set({ name: ids.victim, name_key: ids.victim })
    .where('id', '=', ids.trap)
    .execute()
})

afterAll(async () => {
  await app.close()
  await gateway.close()
})

function call(caller: string, method: string, path: string, body?: object) {
  return app.call<Record<string, never>>(method, path, {
    headers: callers[caller] ?? {},
    ...(body && { body }),
  })
}

/** Invites a new person with the text as an agent's id; the agent on which they then have a role. */
async function byInvitation(text: string, caller: string) {
  rounds += 1
  const email = `guest${rounds}@example.com`
  const invited = await call(caller, 'POST', '/api/invitations', {
    email,
    agents: [{ id: text, role: 'owner' }],
  })
  if (invited.status !== 201) return invited.status
  const token = String(invited.body.url).split('#invitation=')[1]
  const headers = await gateway.headers(email)
  expect((await app.call('POST', '/api/auth/link', { headers, body: { token } })).status).toBe(200)
  const own = await app.call<{ agents: { id: string }[] }>('GET', '/api/auth/agents', { headers })
  return own.body.agents.map(({ id }) => id).join()
}

/** Makes a personal key that reaches the text alone; the agent that it lists. */
async function byKey(text: string, caller: string) {
  const made = await call(caller, 'POST', '/api/auth/keys', { name: 'CI', agents: [text] })
  if (made.status !== 201) return made.status
  const headers = { authorization: `Bearer ${made.body.key}` }
  const own = await app.call<{ agents: { id: string }[] }>('GET', '/api/auth/agents', { headers })
  return own.body.agents.map(({ id }) => id).join()
}

/** The agent that answers as the model. The name in a list of models is that of one agent. */
async function byModel(text: string, caller: string) {
  const path = '/api/openai/v1'
  const found = await call(caller, 'GET', `${path}/models/${text}`)
  const asked = { model: text, messages: [{ role: 'user', content: 'Hi' }] }
  const answers = [
    await call(caller, 'POST', `${path}/chat/completions`, asked),
    await call(caller, 'POST', `${path}/responses`, { model: text, input: 'Hi' }),
  ]
  expect(answers.map(({ status }) => status)).toEqual([found.status, found.status])
  const agents = await app.service.infrastructure.platform
    .selectFrom('agents')
    .select(['id', 'name'])
    .execute()
  return agents.find(({ name }) => name === String(found.body.id))?.id ?? found.status
}

async function byPath(text: string, caller: string) {
  const { status, body } = await call(caller, 'GET', `/api/agents/${text}/chat/models`)
  return status === 200 && body ? text : status
}

const places: Record<string, Place> = {
  'agents in paths': { takes: 'id', settled: 'by id alone', reach: byPath },
  'agents of an invitation': { takes: 'id', settled: 'by id alone, when it is made', reach: byInvitation },
  'agents of a personal key': {
    takes: 'id',
    settled: 'by id alone, when it is made or changed',
    reach: byKey,
  },
  'model of the OpenAI door': {
    takes: 'id or name of an agent',
    settled: 'once for a request, among agents that the caller may chat with: an id before a name',
    reach: byModel,
  },
  OIDC_ROLES: {
    takes: 'id or name of an agent',
    settled: 'once, at the start: an id before a name; test/security/sign-in.test.ts attacks it',
  },
  'names of agents': { takes: 'name', settled: '400 for the form of an id, or the id of an agent' },
  'entries of people on an agent': { takes: 'id of the entry', settled: 'by id alone' },
  SIGN_IN_ALLOW: { takes: 'address or @domain', settled: 'by its form: an address does not begin with @' },
  'keys of callers': {
    takes: 'secret',
    settled: 'by the hash of the key, or of the one before its rotation',
  },
  'contacts in `resolve`': {
    takes: 'address, number or handle',
    settled: 'by the field that has the value; the answer is the id',
  },
  'contacts elsewhere, `notify` and `contact_id` too': { takes: 'id', settled: 'by id alone' },
  'senders on messengers': {
    takes: 'address or user id',
    settled: 'both are given by the messenger, whose deliveries are signed',
  },
  'models of an agent, MODEL_PRICES': {
    takes: 'id or provider/id',
    settled: 'by the names of providers, which are fixed; decides no rights',
  },
  'tools, MCP servers, sources, webhooks, workflows and schedules': {
    takes: 'id',
    settled: 'by id alone, within the agent of the path',
  },
  'tools that a model calls': { takes: 'name', settled: 'by name alone, distinct within a turn' },
  'tools that MCP servers offer': { takes: 'name', settled: 'by name alone, below the id of the server' },
  'workflow of a schedule, a task or a sold run': { takes: 'id', settled: 'by id alone' },
  'browser profiles, credentials of tools': { takes: 'name', settled: 'by name alone; they have no id' },
  'browser sessions, conversations, turns, messages and files': { takes: 'id', settled: 'by id alone' },
  'sources that a question names': {
    takes: 'name',
    settled: 'narrows a search that the caller may make; decides no rights',
  },
  'nodes in the graph of a workflow': {
    takes: 'key of the node',
    settled: 'by the key alone; labels are for people',
  },
}

describe('each place says what it takes, and how that is settled', () => {
  it.each(Object.entries(places))('%s', (_place, { takes, settled }) => {
    expect([takes, settled].every(text => text.length > 1)).toBe(true)
  })
})

/** Texts, and what Mallory and the owner reach by them in a place that takes ids. */
const attacks: [
  what: string,
  text: () => string,
  mallory: () => string | undefined,
  owner: () => string | undefined,
][] = [
  ['the id of an agent out of reach', () => ids.victim, () => undefined, () => ids.victim],
  ['an id in another letter case', () => ids.victim.toUpperCase(), () => undefined, () => undefined],
  ['the name of an agent out of reach', () => 'victim', () => undefined, () => undefined],
  ['a name in reach', () => 'trap', () => undefined, () => undefined],
  ['nothing that is there', () => 'nobody', () => undefined, () => undefined],
]

describe.each(Object.entries(places).filter(([, { takes, reach }]) => takes === 'id' && reach))(
  '%s',
  (_place, { reach = byPath }) => {
    it.each(attacks)('by %s reaches no agent but that of the id', async (_what, text, mallory, owner) => {
      for (const [caller, reached] of [
        ['mallory', mallory()],
        ['owner', owner()],
      ] as const) {
        const found = await reach(text(), caller)
        if (reached === undefined) expect([400, 403, 404]).toContain(found)
        else expect(found).toBe(reached)
      }
    })
  },
)

describe('a model of the OpenAI door', () => {
  it.each<[what: string, text: () => string, mallory: () => string | number, owner: () => string | number]>([
    // Mallory's agent is named like the id of the owner's: each of them reaches their own.
    ['the id of an agent and the name of another', () => ids.victim, () => ids.trap, () => ids.victim],
    ['such a name in another letter case', () => ids.victim.toUpperCase(), () => ids.trap, () => 404],
    ['the id of an agent of that name', () => ids.trap, () => ids.trap, () => 404],
    ['the id of a shared agent', () => ids.shared, () => ids.shared, () => ids.shared],
    ['its name', () => 'Shared', () => ids.shared, () => ids.shared],
    ['the name of an agent out of sight', () => 'victim', () => 404, () => ids.victim],
    ['nothing that is there', () => 'nobody', () => 404, () => 404],
  ])('that is %s is settled in the sight of the caller', async (_what, text, mallory, owner) => {
    expect([await byModel(text(), 'mallory'), await byModel(text(), 'owner')]).toEqual([mallory(), owner()])
  })
})

describe('the name of an agent', () => {
  const uuid = '019ac1f2-7d3e-7000-8000-0123456789ab'
  it.each<[text: () => string, status: number]>([
    [() => uuid, 400],
    [() => uuid.toUpperCase(), 400],
    [() => '00000000-0000-0000-0000-000000000000', 400],
    [() => ids.victim, 400],
    [() => ids.trap.toUpperCase(), 400],
    [() => 'default', 409],
    [() => 'Default', 409],
    [() => 'fox', 400],
    [() => uuid.replaceAll('-', ''), 201],
    [() => `${uuid}-1`, 201],
  ])('is refused where it may be an id: %s', async (text, status) => {
    const row = {
      description: '',
      status: 'active',
      settings: '{}',
      name: 'fox-of-old',
      name_key: 'fox-of-old',
    }
    const at = '2026-01-01T00:00:00.000Z'
    await app.service.infrastructure.platform
      .insertInto('agents')
      .values({ ...row, id: 'fox', created_at: at, updated_at: at })
      .onConflict(conflict => conflict.doNothing())
      .execute()
    const renamed = await makeAgent(app, { headers: callers.owner ?? {} })
    const rename = await call('owner', 'PUT', `/api/agents/${renamed}`, { name: text() })
    expect(rename.status).toBe(status === 201 ? 200 : status)
    await call('owner', 'DELETE', `/api/agents/${renamed}`)
    const created = await call('mallory', 'POST', '/api/agents', { name: text() })
    expect(created.status).toBe(status)
    if (status === 400)
      expect(created.body).toMatchObject({
        error: { message: expect.stringMatching(/form of an id/), details: { field: 'name' } },
      })
  })

  it('of an earlier build stays, and the agent is changed and found by its id', async () => {
    const agent = `/api/agents/${ids.trap}`
    const sent = { name: ids.victim, description: 'Named like an id' }
    expect(await call('mallory', 'PUT', agent, sent)).toMatchObject({ status: 200, body: sent })
    expect((await call('mallory', 'GET', agent)).status).toBe(200)
    expect((await call('owner', 'PUT', agent, sent)).status).toBe(403)
  })
})

it('roles are given by ids alone, whatever another agent is named', async () => {
  expect(await byInvitation(ids.victim, 'owner')).toBe(ids.victim)
  const { body } = await call('mallory', 'GET', `/api/agents/${ids.trap}/admins`)
  expect(body).toMatchObject({ admins: [{ email: 'mallory@example.com' }], meta: { total: 1 } })
})
