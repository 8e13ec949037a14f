import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { errorRow, limitRow, row } from '#test/spec/row.ts'
import { agentsWithData } from '#test/support/agent-data.ts'
import { giveRole } from '#test/support/agents.ts'
import { buildApp, type TestApp, testApp } from '#test/support/build-app.ts'
import { type Gateway, startGateway } from '#test/support/gateway.ts'
import { startModelServer } from '#test/support/model-server.ts'
import { temporaryDirectory } from '#test/support/temporary-directory.ts'

interface AgentBody {
  id: string
  name: string
  settings: Record<string, unknown>
}

interface AgentPage {
  agents: AgentBody[]
  meta: { next_cursor?: string }
}

let gateway: Gateway
let app: TestApp
let olga: Record<string, string>
let paul: Record<string, string>

beforeAll(async () => {
  gateway = await startGateway()
  app = await buildApp({ environment: gateway.environment })
  olga = await gateway.headers('Olga@example.com')
  paul = await gateway.headers('paul@example.com')
})

afterAll(async () => {
  await app.close()
  await gateway.close()
})

let names = 0
async function makeAgent(headers = olga): Promise<AgentBody> {
  names += 1
  const { status, body } = await app.call<AgentBody>('POST', '/api/agents', {
    headers,
    body: { name: `helper-${names}` },
  })
  expect(status).toBe(201)
  return body
}

describe(`creating an agent ${row('POST /api/agents')}`, () => {
  it('answers with the new agent, active and under an id of its own', async () => {
    const { status, body } = await app.call<AgentBody>('POST', '/api/agents', {
      headers: olga,
      body: { name: 'Support-1', description: 'Helps' },
    })
    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.not.stringMatching('Support-1'),
      name: 'Support-1',
      description: 'Helps',
      status: 'active',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    })
  })

  it.each([
    'with space',
    '-leading',
    'trailing-',
    'double--hyphen',
    'ümlaut',
    '',
    'a/b',
    'x'.repeat(65),
    "'; drop table agents; --",
  ])(`refuses the name %j ${errorRow('agents', 400)}`, async name => {
    const { status, body } = await app.call('POST', '/api/agents', { headers: olga, body: { name } })
    expect(status).toBe(400)
    expect(body).toMatchObject({ error: { code: 'VALIDATION_ERROR', details: { field: 'name' } } })
  })

  it(`refuses a description of more than 500 characters ${limitRow('agent-description')}`, async () => {
    const create = (name: string, length: number) =>
      app.call('POST', '/api/agents', { headers: olga, body: { name, description: 'x'.repeat(length) } })
    expect((await create('long-enough', 500)).status).toBe(201)
    expect((await create('too-long', 501)).status).toBe(400)
  })

  it(`refuses a name that is taken, and that of the default agent ${errorRow('agents', 409)}`, async () => {
    const { name } = await makeAgent()
    for (const taken of [name, name.toUpperCase(), 'default', 'Default']) {
      const { status, body } = await app.call('POST', '/api/agents', { headers: paul, body: { name: taken } })
      expect(status).toBe(409)
      expect(body).toMatchObject({ error: { code: 'CONFLICT' } })
    }
  })

  it('needs a user, and says in plain text how to be one', async () => {
    const { status, headers, body } = await app.call('POST', '/api/agents', { body: { name: 'nobodys' } })
    expect(status).toBe(403)
    expect(headers['content-type']).toBe('text/plain; charset=utf-8')
    expect(body).toContain('identity gateway')
  })
})

describe(`listing agents ${row('GET /api/agents')}`, () => {
  it('shows a user the own agents and the default one, and nobody else’s', async () => {
    const mine = await makeAgent(paul)
    const others = await makeAgent(olga)
    const { body } = await app.call<{ agents: AgentBody[] }>('GET', '/api/agents?limit=1000', {
      headers: paul,
    })
    const ids = body.agents.map(({ id }) => id)
    expect(ids).toContain(mine.id)
    expect(ids).toContain('default')
    expect(ids).not.toContain(others.id)
    expect(body.agents.find(({ id }) => id === mine.id)).toMatchObject({ owner_email: 'paul@example.com' })
  })

  it('shows a caller without a user the default agent alone', async () => {
    const { body } = await app.call<{ agents: AgentBody[] }>('GET', '/api/agents')
    expect(body.agents.map(({ id }) => id)).toEqual(['default'])
  })

  it.each(['id', 'name', 'description', 'status', 'owner_email', 'created_at', 'updated_at'])(
    'sorts by %s, with a cursor as well',
    async field => {
      const { id } = await makeAgent()
      const page = async (query: string) => {
        const path = `/api/agents?sort=${field}&order=desc&${query}`
        const { body } = await app.call<AgentPage>('GET', path, { headers: olga })
        return { ids: body.agents.map(agent => agent.id), cursor: body.meta.next_cursor }
      }
      const all = await page('limit=1000')
      expect(all.ids).toEqual(expect.arrayContaining([id, 'default']))
      const first = await page('limit=1&cursor=')
      const rest = await page(`limit=1000&cursor=${first.cursor}`)
      expect([...first.ids, ...rest.ids]).toEqual(all.ids)
    },
  )

  it('puts the agent that belongs to nobody before all owners', async () => {
    await makeAgent()
    const { body } = await app.call<AgentPage>('GET', '/api/agents?sort=owner_email', { headers: olga })
    expect(body.agents[0]?.id).toBe('default')
  })

  it('filters by one or more statuses', async () => {
    const { id } = await makeAgent()
    await app.call('PUT', `/api/agents/${id}`, { headers: olga, body: { status: 'disabled' } })
    const list = async (query: string) =>
      (
        await app.call<{ agents: AgentBody[] }>('GET', `/api/agents?limit=1000&${query}`, { headers: olga })
      ).body.agents.map(agent => agent.id)
    expect(await list('status=disabled')).toEqual([id])
    expect(await list('status=active&status=disabled')).toContain(id)
    expect(await app.call('GET', '/api/agents?status=active&status=asleep', { headers: olga })).toMatchObject(
      {
        status: 400,
        body: { error: { details: { field: 'status', issue: 'must be one of active, paused, disabled' } } },
      },
    )
  })
})

describe(`reading an agent ${row('GET /api/agents/{id}')}`, () => {
  it('answers with settings in force and live counts', async () => {
    const agent = await makeAgent()
    const read = () => app.call<AgentBody>('GET', `/api/agents/${agent.id}`, { headers: olga })
    expect((await read()).body).toMatchObject({
      owner_email: 'olga@example.com',
      settings: { llm_provider: 'builtin', llm_model: 'builtin', llm_temperature: 0.7 },
      stats: { workflows: 0, schedules: 0, contacts: 0, messages: 0 },
    })
    await app.call('POST', `/api/agents/${agent.id}/chat`, { headers: olga, body: { content: 'Hello' } })
    expect((await read()).body).toMatchObject({ stats: { messages: 2 } })
  })

  it(`is 404 for a user and 403 for a caller without one when there is no such agent ${errorRow('agents', 404)}`, async () => {
    const missing = await app.call('GET', '/api/agents/nothing-here', { headers: olga })
    expect(missing.status).toBe(404)
    expect(missing.body).toMatchObject({ error: { code: 'NOT_FOUND' } })
    expect((await app.call('GET', '/api/agents/nothing-here')).status).toBe(403)
  })
})

describe(`changing an agent ${row('PUT /api/agents/{id}')}`, () => {
  it('changes what is given and leaves the rest', async () => {
    const { id, name } = await makeAgent()
    const { status, body } = await app.call('PUT', `/api/agents/${id}`, {
      headers: olga,
      body: { description: 'New', status: 'paused' },
    })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      id,
      name,
      description: 'New',
      status: 'paused',
      updated_at: expect.any(String),
    })
  })

  it('changes no column that the body is not about', async () => {
    const before = (await app.call<AgentBody>('GET', '/api/agents/default')).body
    const body = { name_key: 'x', foo: 1, description: 'Changed' }
    expect((await app.call('PUT', '/api/agents/default', { body })).status).toBe(200)
    const after = (await app.call<AgentBody>('GET', '/api/agents/default')).body
    expect(after).toEqual({ ...before, description: 'Changed', updated_at: expect.any(String) })
  })

  it('keeps the name and the status of the default agent', async () => {
    const change = (body: object) => app.call('PUT', '/api/agents/default', { body })
    expect((await change({ name: 'other' })).status).toBe(409)
    expect((await change({ status: 'paused' })).status).toBe(403)
    expect((await change({ name: 'default', status: 'active', description: 'Public helper' })).status).toBe(
      200,
    )
  })

  it('does not chat while it is not active', async () => {
    const { id } = await makeAgent()
    await app.call('PUT', `/api/agents/${id}`, { headers: olga, body: { status: 'paused' } })
    const { status, body } = await app.call('POST', `/api/agents/${id}/chat`, {
      headers: olga,
      body: { content: 'Hello' },
    })
    expect(status).toBe(409)
    expect(body).toEqual({ error: expect.stringContaining('paused'), code: 'CONFLICT' })
  })
})

/** An agent of Olga's in a service of its own, whose database cannot be opened. */
async function brokenAgent(): Promise<{ app: TestApp; id: string }> {
  const options = { environment: gateway.environment, dataDirectory: temporaryDirectory() }
  const before = await testApp(options)
  const { body } = await before.call<AgentBody>('POST', '/api/agents', {
    headers: olga,
    body: { name: 'broken' },
  })
  const ofNewerVersion = { name: '9999-of-a-newer-version', timestamp: '2099-01-01T00:00:00.000Z' }
  await before.service.infrastructure.agentDatabases.use(body.id, ({ db }) =>
    db
      .withTables<{ kysely_migration: typeof ofNewerVersion }>()
      .insertInto('kysely_migration')
      .values(ofNewerVersion)
      .execute(),
  )
  await before.close()
  const app = await testApp(options)
  expect((await app.call('GET', `/api/agents/${body.id}`, { headers: olga })).status).toBe(500)
  return { app, id: body.id }
}

describe('an agent whose database cannot be opened', () => {
  it('still shows, gives and takes roles, and can be disabled', async () => {
    const { app, id } = await brokenAgent()
    const entry = await giveRole(app, id, { email: 'paul@example.com', role: 'admin', headers: olga })
    const list = await app.call('GET', `/api/agents/${id}/admins`, { headers: paul })
    expect(list).toMatchObject({ status: 200, body: { meta: { total: 2 } } })
    expect((await app.call('DELETE', entry, { headers: olga })).status).toBe(200)
    const disabled = await app.call('PUT', `/api/agents/${id}`, {
      headers: olga,
      body: { status: 'disabled' },
    })
    expect(disabled).toMatchObject({ status: 200, body: { status: 'disabled' } })
  })
})

describe(`deleting an agent ${row('DELETE /api/agents/{id}')}`, () => {
  it('removes its database, its files and its credentials from the disk', async () => {
    const { id } = await makeAgent()
    await app.call('PUT', `/api/agents/${id}/settings`, {
      headers: olga,
      body: { telegram_bot_token: 'gone-soon' },
    })
    await app.call('POST', `/api/agents/${id}/chat`, { headers: olga, body: { content: 'Hello' } })
    expect(await agentsWithData(app.dataDirectory)).toContain(id)
    const { status, body } = await app.call('DELETE', `/api/agents/${id}`, { headers: olga })
    expect(status).toBe(200)
    expect(body).toEqual({ success: true, message: expect.any(String) })
    expect(await agentsWithData(app.dataDirectory)).not.toContain(id)
    expect((await app.call('GET', `/api/agents/${id}`, { headers: olga })).status).toBe(404)
  })

  it('happens once, also when it is asked for twice', async () => {
    const { id } = await makeAgent()
    const remove = () => app.call('DELETE', `/api/agents/${id}`, { headers: olga })
    const statuses = (await Promise.all([remove(), remove(), remove()])).map(({ status }) => status)
    expect(statuses.toSorted()).toEqual([200, 404, 404])
  })

  it('needs nothing of its database, which may be one that cannot be opened', async () => {
    const { app, id } = await brokenAgent()
    expect((await app.call('DELETE', `/api/agents/${id}`, { headers: olga })).status).toBe(200)
    expect((await app.call('GET', `/api/agents/${id}`, { headers: olga })).status).toBe(404)
    expect(await agentsWithData(app.dataDirectory)).not.toContain(id)
  })

  it(`is the owner's alone ${errorRow('agents', 403)}`, async () => {
    const { id } = await makeAgent()
    await giveRole(app, id, { email: 'paul@example.com', role: 'admin', headers: olga })
    const { status, headers } = await app.call('DELETE', `/api/agents/${id}`, { headers: paul })
    expect(status).toBe(403)
    expect(headers['content-type']).toBe('text/plain; charset=utf-8')
  })

  it('is refused for the default agent, to everybody', async () => {
    expect((await app.call('DELETE', '/api/agents/default')).status).toBe(403)
    expect((await app.call('DELETE', '/api/agents/default', { headers: olga })).status).toBe(403)
  })

  it('is finished by the next start if the process ended in the middle', async () => {
    const first = await testApp({ environment: gateway.environment })
    const { body } = await first.call<AgentBody>('POST', '/api/agents', {
      headers: olga,
      body: { name: 'half-gone' },
    })
    await first.call('GET', `/api/agents/${body.id}`, { headers: olga })
    const { platform } = first.service.infrastructure
    await platform.deleteFrom('agents').where('id', '=', body.id).execute()
    await platform.insertInto('agent_removals').values({ agent_id: body.id }).execute()
    await first.service.close()
    expect(await agentsWithData(first.dataDirectory)).toContain(body.id)
    await testApp({ environment: gateway.environment, dataDirectory: first.dataDirectory })
    expect(await agentsWithData(first.dataDirectory)).not.toContain(body.id)
  })
})

interface Answered {
  settings: object
  credentials: object
  warnings: { field: string; issue: string }[]
}

describe(`settings ${row('PUT /api/agents/{id}/settings')}`, () => {
  const put = (id: string, body: unknown) =>
    app.call<Answered>('PUT', `/api/agents/${id}/settings`, {
      headers: olga,
      body,
    })

  it('are stored, merged and taken back with null', async () => {
    const { id } = await makeAgent()
    await put(id, { llm_provider: 'builtin', llm_temperature: 0.2, system_prompt: 'Be brief.' })
    const { status, body } = await put(id, { llm_temperature: null, sql_tool_writes: true })
    expect(status).toBe(200)
    expect(body.settings).toEqual({
      llm_provider: 'builtin',
      llm_model: 'builtin',
      llm_temperature: 0.7,
      system_prompt: 'Be brief.',
      sql_tool_writes: true,
    })
  })

  it.each([
    ['an unknown key', { llm_colour: 'blue' }, 'llm_colour'],
    ['an unknown provider', { llm_provider: 'acme' }, 'llm_provider'],
    ['a temperature out of bounds', { llm_temperature: 2.1 }, 'llm_temperature'],
    ['a number as text', { llm_temperature: '1' }, 'llm_temperature'],
    ['an address that is none', { llm_base_url: 'file:///etc/passwd' }, 'llm_base_url'],
    ['an address with a password', { llm_base_url: 'https://user:pw@models.example/v1' }, 'llm_base_url'],
    ['a key with a line break', { openai_api_key: 'sk-x\n' }, 'openai_api_key'],
    ['a blank model', { llm_model: ' ' }, 'llm_model'],
  ])('refuse %s', async (_what, change, field) => {
    const { id } = await makeAgent()
    const { status, body } = await put(id, change)
    expect(status).toBe(400)
    expect(body).toMatchObject({ error: { code: 'VALIDATION_ERROR', details: { field } } })
  })

  it('take credentials in and never give them out', async () => {
    const { id } = await makeAgent()
    const secret = 'sk-very-secret-0123456789'
    const answer = await put(id, { openai_api_key: secret, telegram_bot_token: secret })
    expect(answer.body.credentials).toEqual({ openai_api_key: true, telegram_bot_token: true })
    const read = await app.call('GET', `/api/agents/${id}`, { headers: olga })
    expect(JSON.stringify([answer.body, read.body, app.logged])).not.toContain(secret)
    expect(filesThatHold(app.dataDirectory, secret)).toEqual([])
    expect((await put(id, { openai_api_key: null })).body.credentials).toEqual({ telegram_bot_token: true })
  })

  it.each<[string, object, string[]]>([
    ['a provider without a key', { llm_provider: 'openai' }, ['llm_provider']],
    [
      'another one, with a model',
      { llm_provider: 'anthropic', llm_model: 'claude-opus-5' },
      ['llm_provider'],
    ],
    ['a provider without an address', { llm_provider: 'openai-compatible' }, ['llm_provider']],
    ['a model of no retriever', { llm_provider: 'builtin', llm_model: 'gpt-5' }, ['llm_model']],
    [
      'a private address',
      { llm_provider: 'openai-compatible', llm_base_url: 'http://10.0.0.1/v1' },
      ['llm_base_url'],
    ],
    [
      'metadata',
      { llm_provider: 'openai-compatible', llm_base_url: 'http://169.254.169.254' },
      ['llm_base_url'],
    ],
    ['an unused address', { llm_provider: 'builtin', llm_base_url: 'http://192.0.9.1/v1' }, ['llm_base_url']],
    ['a country that is none', { phone_country: 'UK' }, ['phone_country']],
    ['mail without a sender', { smtp_url: 'smtp://a:b@mail.example.com' }, ['mail_from']],
    [
      'a budget in money for a model without a price',
      { llm_provider: 'openai', llm_model: 'gpt-5', monthly_usd: '5' },
      ['monthly_usd', 'llm_provider'],
    ],
    ['a budget for what costs nothing', { llm_provider: 'builtin', monthly_usd: '5' }, []],
    ['nothing', { llm_provider: 'builtin', mail_from: 'a@example.com', phone_country: 'GB' }, []],
  ])('warn of %s, and are stored', async (_what, change, fields) => {
    const { id } = await makeAgent()
    const answer = await put(id, change)
    expect(answer.status).toBe(200)
    expect(answer.body.warnings.map(({ field }) => field)).toEqual(fields)
    const read = await app.call('GET', `/api/agents/${id}/settings`, { headers: olga })
    expect([read.status, read.body]).toEqual([200, answer.body])
  })

  it('warn of a model that its server does not list, unless it gives no list', async () => {
    let ids = ['small', 'large']
    await using server = await startModelServer(() =>
      ids.length === 0 ? { status: 404 } : { json: { object: 'list', data: ids.map(id => ({ id })) } },
    )
    const own = await testApp({ environment: { DEV_USER: 'dev@example.com', OUTBOUND_ALLOW: '127.0.0.1' } })
    const warningsOf = async (llm_model: string, path = '/v1') => {
      const body = { llm_provider: 'openai-compatible', llm_base_url: server.url + path, llm_model }
      const answer = await own.call<Answered>('PUT', '/api/agents/default/settings', { body })
      return answer.body.warnings
    }
    expect(await warningsOf('small')).toEqual([])
    expect(await warningsOf('tiny')).toEqual([
      { field: 'llm_model', issue: expect.stringContaining('"tiny"') },
    ])
    ids = []
    expect(await warningsOf('tiny', '/v2')).toEqual([])
  })

  it('lose nothing when several are changed at once', async () => {
    const { id } = await makeAgent()
    const changes = [
      { llm_temperature: 1 },
      { system_prompt: 'Be kind.' },
      { sql_tool_writes: true },
      { browser_tools: true },
    ]
    await Promise.all(changes.map(change => put(id, change)))
    const { body } = await app.call<AgentBody>('GET', `/api/agents/${id}`, { headers: olga })
    expect(body.settings).toMatchObject(Object.assign({}, ...changes))
  })

  it('drop a stored key when the address changes that it was given for', async () => {
    const { id } = await makeAgent()
    await put(id, { llm_base_url: 'https://one.example/v1', openai_compatible_api_key: 'first' })
    expect((await put(id, { llm_base_url: 'https://one.example/v1' })).body.credentials).toEqual({
      openai_compatible_api_key: true,
    })
    expect((await put(id, { llm_base_url: 'https://two.example/v1' })).body.credentials).toEqual({})
    const both = { llm_base_url: 'https://three.example/v1', openai_compatible_api_key: 'third' }
    expect((await put(id, both)).body.credentials).toEqual({ openai_compatible_api_key: true })
  })
})

/** Files below the folder in which the text stands, read as bytes. */
function filesThatHold(folder: string, text: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .filter(path => readFileSync(path).includes(text))
}
