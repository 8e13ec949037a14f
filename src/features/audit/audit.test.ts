import { readFileSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { giveRole, makeAgent } from '#test/support/agents.ts'
import { type TestApp, testApp } from '#test/support/build-app.ts'
import { startChatModel } from '#test/support/chat-model.ts'
import { startGateway } from '#test/support/gateway.ts'
import { manualClock } from '#test/support/manual-clock.ts'
import { openaiText, openaiToolCall } from '#test/support/model-server.ts'
import { workflowCalls } from '#test/support/workflows.ts'
import { createAudit } from './audit.feature.ts'
import type { AuditEntry } from './audit.schema.ts'

interface Log {
  entries: AuditEntry[]
  meta: { total: number; next_cursor?: string | null }
}

/** The agent's entries, the oldest first. */
async function logOf(app: TestApp, agent: string, query = '', headers = {}): Promise<AuditEntry[]> {
  const { status, body } = await app.call<Log>('GET', `${agent}/audit?order=asc&${query}`, { headers })
  expect(status).toBe(200)
  return body.entries
}

const ada = { DEV_USER: 'ada@example.com' }
const byAda = { actor_id: 'ada@example.com', address: '127.0.0.1' }

it('an entry says who did what, when, from where and to what', async () => {
  const app = await testApp({ environment: ada })
  const agent = `/api/agents/${await makeAgent(app)}`
  const before = new Date().toISOString()
  const { body: contact } = await app.call<{ id: string }>('POST', `${agent}/contacts`, {
    body: { name: 'Bo' },
    from: '192.0.2.7',
  })
  const [, entry] = await logOf(app, agent)
  expect(entry).toEqual({
    id: expect.any(String),
    created_at: expect.any(String),
    agent_id: agent.split('/')[3],
    actor_kind: 'person',
    actor_id: 'ada@example.com',
    actor_name: null,
    actor_person: null,
    address: '192.0.2.7',
    operation: 'createContact',
    object: contact.id,
    outcome: 'done',
    changes: null,
  })
  expect(entry?.created_at.localeCompare(before)).toBeGreaterThanOrEqual(0)
})

it('settings and roles say what has changed, and secrets only that they have', async () => {
  const app = await testApp({ environment: ada })
  const agent = `/api/agents/${await makeAgent(app)}`
  const set = async (body: object) =>
    expect(await app.call('PUT', `${agent}/settings`, { body })).toMatchObject({ status: 200 })
  await set({ llm_model: 'small', openai_api_key: 'sk-planted-4711', system_prompt: 'x'.repeat(5000) })
  await set({ llm_model: null, openai_api_key: null })
  const role = await giveRole(app, agent.split('/')[3] ?? '', {
    email: 'bo@example.com',
    role: 'viewer',
    headers: {},
  })
  expect(await app.call('DELETE', role)).toMatchObject({ status: 200 })
  const entries = await logOf(app, agent, 'operation=updateSettings&operation=addAdmin&operation=removeAdmin')
  expect(entries.map(({ operation, changes }) => ({ operation, changes }))).toEqual([
    {
      operation: 'updateSettings',
      changes: {
        llm_model: { from: null, to: 'small' },
        openai_api_key: 'changed',
        system_prompt: { from: null, to: `${'x'.repeat(200)}…` },
      },
    },
    {
      operation: 'updateSettings',
      changes: { llm_model: { from: 'small', to: null }, openai_api_key: 'removed' },
    },
    { operation: 'addAdmin', changes: { email: 'bo@example.com', role: { from: null, to: 'viewer' } } },
    { operation: 'removeAdmin', changes: { email: 'bo@example.com', role: { from: 'viewer', to: null } } },
  ])
  expect(JSON.stringify(entries)).not.toContain('4711')
})

it('what changes nothing leaves no entry', async () => {
  const app = await testApp({ environment: ada })
  const agent = `/api/agents/${await makeAgent(app)}`
  const calls: [string, string, object?][] = [
    ['GET', '/contacts'],
    ['PUT', '/contacts/unknown', { name: 'Bo' }],
    ['DELETE', '/workflows/unknown'],
    ['POST', '/contacts', { name: '' }],
    ['POST', '/sql/execute', { query: 'select 1' }],
    ['POST', '/sql/execute', { query: 'explain delete from contacts' }],
    ['POST', '/chat/conversations'],
  ]
  for (const [method, path, body] of calls) await app.call(method, agent + path, { body })
  const entries = await logOf(app, agent)
  expect(entries.map(({ operation }) => operation)).toEqual(['createAgent'])
})

it('concurrent changes leave one entry each, with its own object', async () => {
  const app = await testApp({ environment: ada })
  const agent = `/api/agents/${await makeAgent(app)}`
  // More than one statement moves to the log.
  const names = Array.from({ length: 70 }, (_, index) => `Contact ${index}`)
  const made = await Promise.all(
    names.map(name => app.call<{ id: string }>('POST', `${agent}/contacts`, { body: { name } })),
  )
  const entries = await logOf(app, agent, 'operation=createContact&limit=100')
  expect(entries.filter(entry => entry.actor_id === byAda.actor_id && entry.outcome === 'done')).toEqual(
    entries,
  )
  expect(entries.map(({ object }) => object).toSorted()).toEqual(made.map(({ body }) => body.id).toSorted())
})

it('a change that is done anew, since another one beside it failed, names what it has made in the end', async () => {
  const app = await testApp({ environment: ada })
  const agent = `/api/agents/${await makeAgent(app)}`
  await app.call('POST', `${agent}/contacts`, { body: { name: 'Bo', email: 'bo@example.com' } })
  // Those with an even number are known already.
  const made = await Promise.all(
    Array.from({ length: 20 }, (_, index) => {
      const email = index % 2 === 0 ? 'bo@example.com' : `${index}@example.com`
      return app.call<{ id: string }>('POST', `${agent}/contacts`, { body: { name: 'Bo', email } })
    }),
  )
  expect(made.map(({ status }) => status)).toEqual(made.map((_, index) => (index % 2 === 0 ? 409 : 201)))
  const [, ...entries] = await logOf(app, agent, 'operation=createContact')
  const ids = made.flatMap(({ status, body }) => (status === 201 ? [body.id] : []))
  expect(entries.map(({ object }) => object).toSorted()).toEqual(ids.toSorted())
})

it('attempts at secrets and roles are entries when they are refused', async () => {
  const gateway = await startGateway()
  onTestFinished(gateway.close)
  const app = await testApp({ environment: gateway.environment })
  const [owner, viewer] = await Promise.all(['ada', 'bo'].map(name => gateway.headers(`${name}@example.com`)))
  const agentId = await makeAgent(app, { headers: owner ?? {} })
  const agent = `/api/agents/${agentId}`
  await giveRole(app, agentId, { email: 'bo@example.com', role: 'viewer', headers: owner ?? {} })
  const attempts: [string, string, object][] = [
    ['PUT', '/settings', { openai_api_key: 'sk-x' }],
    ['POST', '/admins', { email: 'bo@example.com', role: 'owner' }],
    ['POST', '/contacts', { name: 'Bo' }],
  ]
  for (const [method, path, body] of attempts)
    expect(await app.call(method, agent + path, { body, headers: viewer ?? {} })).toMatchObject({
      status: 403,
    })
  expect(await app.call('GET', `${agent}/audit`, { headers: viewer ?? {} })).toMatchObject({ status: 403 })
  const refused = await logOf(app, agent, 'outcome=refused', owner)
  expect(refused).toMatchObject([
    { operation: 'updateSettings', actor_id: 'bo@example.com', changes: null },
    { operation: 'addAdmin', actor_id: 'bo@example.com', changes: null },
  ])
})

it('an entry of a model names the schedule or the workflow in whose turn it acts', async () => {
  await using model = await startChatModel()
  const app = await testApp({ environment: { ...ada, ...model.environment } })
  const agent = `/api/agents/${await makeAgent(app)}`
  await app.call('PUT', `${agent}/settings`, { body: { sql_tool_writes: true } })
  const chat = { callback_type: 'chat', callback_data: { content: 'Tidy up.' } }
  const later = { name: 'Nightly', type: 'delayed', delay_seconds: 3600, ...chat }
  const schedule = await app.call<{ id: string }>('POST', `${agent}/schedules`, { body: later })
  const workflows = workflowCalls(app, agent)
  const nodes = { start: { type: 'trigger' }, ask: { type: 'chat', message: 'Tidy up.' } }
  const workflow_id = await workflows.create(nodes, ['start > ask'], { name: 'Weekly' })
  const call = { stream: openaiToolCall('execute_sql', { query: "update contacts set name = 'Al'" }) }
  await app.call('POST', `${agent}/contacts`, { body: { name: 'Bo' } })
  const begin = [
    () => app.call('POST', `${agent}/schedules/${schedule.body.id}/run`),
    () => workflows.execute({ workflow_id }),
  ]
  for (const run of begin) {
    model.next(call, { stream: openaiText('Done.') })
    expect(await run()).toMatchObject({ status: 200 })
    await app.service.infrastructure.runner.idle()
  }
  expect(await logOf(app, agent, 'operation=execute_sql')).toMatchObject([
    { actor_kind: 'model', actor_id: schedule.body.id, actor_name: 'Nightly' },
    { actor_kind: 'model', actor_id: workflow_id, actor_name: 'Weekly' },
  ])
})

it('entries older than AUDIT_KEEP_DAYS are removed at the start, and no others', async () => {
  const clock = manualClock('2026-03-01T00:00:00Z')
  const app = await testApp({ environment: { ...ada, AUDIT_KEEP_DAYS: '30' }, clock })
  const agent = `/api/agents/${await makeAgent(app)}`
  clock.advance(29 * 24 * 3_600_000)
  await app.call('POST', `${agent}/contacts`, { body: { name: 'Bo' } })
  clock.advance(2 * 24 * 3_600_000)
  expect(await logOf(app, agent)).toHaveLength(2)
  await createAudit(app.service.infrastructure).start?.()
  expect((await logOf(app, agent)).map(({ operation }) => operation)).toEqual(['createContact'])
})

describe('the list', () => {
  it('is filtered, paged, and written as lines of JSON or CSV', async () => {
    const app = await testApp({ environment: ada })
    const agent = `/api/agents/${await makeAgent(app)}`
    for (let count = 0; count < 5; count += 1)
      await app.call('POST', `${agent}/contacts`, { body: { name: '=Bo' } })
    const page = await app.call<Log>('GET', `${agent}/audit?limit=4&cursor=`)
    expect(page.body.entries).toHaveLength(4)
    const rest = await app.call<Log>('GET', `${agent}/audit?limit=4&cursor=${page.body.meta.next_cursor}`)
    expect(rest.body.entries.map(({ operation }) => operation)).toEqual(['createContact', 'createAgent'])
    expect(await logOf(app, agent, 'actor_id=bo@example.com')).toEqual([])
    expect(await logOf(app, agent, 'actor_kind=person&operation=createAgent')).toMatchObject([byAda])
    const all = (await app.call<Log>('GET', `${agent}/audit`)).body.entries
    const lines = await app.call<string>('GET', `${agent}/audit?format=ndjson`)
    expect(lines.headers['content-type']).toBe('application/x-ndjson; charset=utf-8')
    expect(
      lines.body
        .trimEnd()
        .split('\n')
        .map(line => JSON.parse(line)),
    ).toEqual(all)
    const csv = await app.call<string>('GET', `${agent}/audit?format=csv&operation=createAgent`)
    expect(csv.body.split('\r\n')).toEqual([
      '\ufeffid,created_at,agent_id,actor_kind,actor_id,actor_name,actor_person,address,operation,object,outcome,changes',
      expect.stringMatching(/^\S+,\S+,\S+,person,ada@example\.com,,,127\.0\.0\.1,createAgent,\S+,done,$/),
      '',
    ])
    expect(await app.call('GET', `${agent}/audit?format=csv&limit=1`)).toMatchObject({ status: 400 })
  })

  it('of a person holds the agents that they administer, and outlives those that they delete', async () => {
    const gateway = await startGateway()
    onTestFinished(gateway.close)
    const app = await testApp({ environment: gateway.environment })
    const [owner, viewer] = await Promise.all(
      ['ada', 'bo'].map(name => gateway.headers(`${name}@example.com`)),
    )
    const [kept, deleted] = [
      await makeAgent(app, { headers: owner ?? {} }),
      await makeAgent(app, { headers: owner ?? {} }),
    ]
    await giveRole(app, kept, { email: 'bo@example.com', role: 'viewer', headers: owner ?? {} })
    await app.call('POST', `/api/agents/${deleted}/contacts`, { headers: owner ?? {}, body: { name: 'Bo' } })
    await app.call('DELETE', `/api/agents/${deleted}`, { headers: owner ?? {} })
    const own = async (headers = {}) =>
      (await app.call<Log>('GET', '/api/audit?order=asc', { headers })).body.entries
    expect(await own(owner)).toMatchObject([
      { operation: 'createAgent', agent_id: kept },
      { operation: 'addAdmin', agent_id: kept },
      { operation: 'deleteAgent', agent_id: null, object: deleted, actor_id: 'ada@example.com' },
    ])
    expect(await own(viewer)).toEqual([])
    const { platform } = app.service.infrastructure
    const left = await platform
      .selectFrom('audit_log')
      .select('operation')
      .where('agent_id', '=', deleted)
      .execute()
    expect(left).toEqual([])
    expect(await app.call('GET', '/api/audit')).toMatchObject({ status: 403 })
  })
})

it('the routes that leave no entry are those of the documentation', async () => {
  const app = await testApp()
  const [, table = ''] = readFileSync('docs/audit.md', 'utf8').split('These routes leave no entry:')
  const documented = Array.from(table.matchAll(/`(\w+)`/g), ([, name]) => name)
  const exempt = app.routes.filter(
    ({ method, config }) => !['GET', 'HEAD'].includes(method) && config.audit === 'exempt',
  )
  expect(exempt.map(({ config }) => config.operationId).toSorted()).toEqual(documented.toSorted())
})
