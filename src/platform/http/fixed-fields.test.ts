import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeAgent } from '#test/support/agents.ts'
import { buildApp, type TestApp } from '#test/support/build-app.ts'

let app: TestApp
let agent: string

beforeAll(async () => {
  app = await buildApp({ environment: { DEV_USER: 'dev@example.com', OUTBOUND_ALLOW: '127.0.0.1' } })
  agent = `/api/agents/${await makeAgent(app)}`
})
afterAll(() => app.close())

const code = { code: 'return 1' }
const start = { id: 'start', type: 'trigger' }
const callback = { callback_type: 'chat', callback_data: { content: 'Hello' } }

/** By the path of the update: the body that makes a resource, a change of it, and fields that no update changes. */
const resources: Record<string, [made: object, change: object, ...fixed: string[]]> = {
  '': [{}, { description: 'B' }, 'created_at', 'owner_email', 'stats', 'settings'],
  '/chat/conversations': [
    { title: 'Tides' },
    { title: 'Ebb' },
    'messageCount',
    'lastMessageAt',
    'createdAt',
    'created_by',
    'channel',
  ],
  '/contacts': [{ name: 'Ann' }, { name: 'Anna' }, 'created_at', 'updated_at'],
  '/calendar': [
    { title: 'Call', start_time: '2031-01-31T09:00:00Z' },
    { title: 'Meeting' },
    'created_at',
    'updated_at',
  ],
  '/schedules': [
    { name: 'S', type: 'cron', cron_expression: '0 9 1 1 *', ...callback },
    { name: 'T' },
    'type',
    'next_runs',
    'last_run',
    'executions',
    'created_at',
  ],
  '/workflows': [
    { name: 'W', nodes: [start], edges: [] },
    { name: 'V' },
    'version',
    'warnings',
    'created_at',
    'updated_at',
  ],
  '/webhooks': [
    { url: 'http://127.0.0.1:9/', events: ['*'] },
    { enabled: false },
    'secret',
    'failing_since',
    'disabled_reason',
    'created_at',
  ],
  '/admins': [
    { email: 'bo@example.com', role: 'admin' },
    { monthly_tokens: 1000 },
    'email',
    'role',
    'created_at',
  ],
  '/keys': [
    { name: 'K', role: 'chat' },
    { name: 'L' },
    'hint',
    'creator',
    'state',
    'created_at',
    'last_used_at',
  ],
  '/tools': [
    { name: 'tool', type: 'javascript', configuration: code },
    { description: 'B' },
    'type',
    'created_at',
    'updated_at',
  ],
}

/** Those that take no other fields at all, and a form. */
const closed = [
  '/settings',
  '/chat/messages/{messageId}/feedback',
  '/tools/cluster/{clusterName}/credentials',
  '/sources/{sourceId}/file',
]

interface Resource extends Record<string, unknown> {
  id: string
}

let count = 0

async function made(below: string): Promise<{ path: string; read: Resource }> {
  const [given] = resources[below] ?? [{}]
  count += 1
  const body = {
    ...given,
    ...('name' in given && { name: `${given.name}${count}` }),
    ...('email' in given && { email: `${count}${given.email}` }),
  }
  let path = agent
  if (below !== '') {
    const { status, body: answer } = await app.call<Resource & { data?: Resource }>('POST', agent + below, {
      body,
    })
    expect([status, answer]).toEqual([201, expect.anything()])
    path = `${agent}${below}/${(answer.data ?? answer).id}`
  }
  return { path, read: await readAt(path) }
}

/** Keys, people and conversations are read in their lists alone. */
async function readAt(path: string): Promise<Resource> {
  const { body } = await app.call<Resource & { data?: Resource }>('GET', path)
  if (body.id !== undefined || body.data !== undefined) return body.data ?? body
  const { body: list } = await app.call<Record<string, Resource[]>>('GET', path.replace(/\/[^/]+$/, ''))
  const rows = list.keys ?? list.admins ?? list.conversations ?? []
  return rows.find(({ id }) => path.endsWith(id)) ?? body
}

it('every update of the API is in this table', async () => {
  const { body } = await app.call<{ paths: Record<string, object> }>('GET', '/openapi.json')
  const updates = Object.entries(body.paths)
    .filter(([, methods]) => 'put' in methods)
    .map(([path]) => path.replace('/api/agents/{id}', ''))
  // Those of a person are declared with those of agents.
  const ofAgents = updates.filter(path => !path.startsWith('/api/auth/keys'))
  expect(
    ofAgents.map(path => (closed.includes(path) ? path : path.replace(/\/\{\w+\}$/, ''))).sort(),
  ).toEqual([...Object.keys(resources), ...closed].sort())
})

describe.each(Object.entries(resources))('an update of %s', (below, [, change, ...fixed]) => {
  it('takes back what was read, also a while ago', async () => {
    const { path, read } = await made(below)
    for (const body of [
      read,
      { ...read, ...change },
      read,
      { ...read, ...change, updated_at: '2020-01-01T00:00:00Z' },
    ])
      expect(await app.call('PUT', path, { body })).toMatchObject({ status: 200 })
    expect(await readAt(path)).toMatchObject(change)
  })

  it.each(['id', ...fixed])('refuses another %s, and changes nothing', async field => {
    const { path, read } = await made(below)
    const other = { ...change, [field]: 'another' }
    const issue = expect.stringContaining("can't be changed")
    const error = { code: 'VALIDATION_ERROR', details: { field, issue } }
    const inChat = { code: 'VALIDATION_ERROR', error: expect.stringMatching(`${field}.*can't be changed`) }
    const wrong = below.startsWith('/chat') ? inChat : { error }
    expect(await app.call('PUT', path, { body: other })).toMatchObject({ status: 400, body: wrong })
    expect(await readAt(path)).toEqual(read)
    if (['id', 'type', 'created_at'].includes(field))
      expect(await app.call('PUT', path, { body: { ...read, ...other } })).toMatchObject({
        status: 400,
        body: wrong,
      })
  })
})

describe('a schedule that is sent back', () => {
  const read = async (given: object) => {
    const { body } = await app.call<Resource>('POST', `${agent}/schedules`, {
      body: { name: 'S', ...given, ...callback },
    })
    return { path: `${agent}/schedules/${body.id}`, schedule: body }
  }

  it.each([
    { type: 'cron', cron_expression: '0 9 * * *' },
    { type: 'delayed', delay_seconds: 3600 },
  ])('runs at its own times, whatever was read as its next one: %j', async given => {
    const { path, schedule } = await read(given)
    const put = (body: object) => app.call<Resource>('PUT', path, { body })
    const stale = { ...schedule, name: 'T', next_run: '2020-01-01T09:00:00.000Z' }
    expect((await put(stale)).body).toMatchObject({ name: 'T', next_run: schedule.next_run })
    expect((await put({ ...schedule, status: 'paused' })).body).toMatchObject({ next_run: null })
    expect((await put(schedule)).body).toMatchObject({ status: 'active', next_run: expect.any(String) })
    expect(await put({ next_run: '2031-01-01T09:00:00Z' })).toMatchObject({
      status: 400,
      body: { error: { details: { field: 'next_run' } } },
    })
  })

  it('is set for the time that it is sent with, if it runs once', async () => {
    const { path, schedule } = await read({ type: 'once', next_run: '2031-01-01T09:00:00Z' })
    const next_run = '2032-01-01T09:00:00.000Z'
    const { body } = await app.call('PUT', path, { body: { ...schedule, next_run } })
    expect(body).toMatchObject({ next_run })
  })
})

it('another value for a field that is sent alone is refused by its name', async () => {
  const { path } = await made('/schedules')
  expect(await app.call('PUT', path, { body: { callback_type: 'webhook' } })).toMatchObject({
    status: 400,
    body: {
      error: { details: { field: 'callback_type', issue: expect.stringContaining("can't be changed") } },
    },
  })
})

it('settings of an agent are changed by no update of the agent', async () => {
  const { body } = await app.call<Resource>('GET', agent)
  const settings = { ...Object(body.settings), system_prompt: 'Rhyme.' }
  for (const sent of [{ ...body, settings }, { settings }])
    expect(await app.call('PUT', agent, { body: sent })).toMatchObject({
      status: 400,
      body: { error: { details: { field: 'settings' } } },
    })
  expect(await app.call('PUT', agent, { body: { settings: body.settings } })).toMatchObject({ status: 200 })
})
