/** What people, and all turns together, may spend in a month on the platform's own model credentials. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeAgent } from '#test/support/agents.ts'
import { type Answer, buildApp, type TestApp } from '#test/support/build-app.ts'
import { heldStream } from '#test/support/chat-model.ts'
import { type Gateway, startGateway } from '#test/support/gateway.ts'
import { manualClock } from '#test/support/manual-clock.ts'
import {
  type ModelServer,
  openaiChunk,
  openaiToolCall,
  type Reply,
  startModelServer,
  wireForm,
} from '#test/support/model-server.ts'
import { passTime } from '#test/support/pass-time.ts'
import { temporaryDirectory } from '#test/support/temporary-directory.ts'
import { workflowCalls } from '#test/support/workflows.ts'

let model: ModelServer
let modelEnvironment: Record<string, string>
/** Said next; after that the answer is costly. */
const laid: Reply[] = []
let gateway: Gateway
let app: TestApp
const clock = manualClock('2026-01-15T12:00:00.000Z')

beforeAll(async () => {
  model = await startModelServer(({ method }) =>
    method === 'POST' ? (laid.shift() ?? costly) : { json: { data: [{ id: 'fake-model' }] } },
  )
  modelEnvironment = {
    OPENAI_COMPATIBLE_BASE_URL: model.url,
    DEFAULT_PROVIDER: 'openai-compatible',
    DEFAULT_MODEL: 'fake-model',
  }
  gateway = await startGateway()
  const budgets = { BUDGET_MONTHLY_TOKENS: '6500', BUDGET_PERSON_MONTHLY_TOKENS: '3500' }
  const environment = {
    ...modelEnvironment,
    ...gateway.environment,
    ...budgets,
    OUTBOUND_ALLOW: '127.0.0.1',
  }
  app = await buildApp({ clock, environment })
})

afterAll(async () => {
  await app.close()
  await gateway.close()
  await model[Symbol.asyncDispose]()
})

const plain = { content: 'Hello', enableTools: false, autoRag: false }
const usage = { prompt_tokens: 900, completion_tokens: 100, cost: 1 }
/** An answer that its service says has taken a thousand tokens, and a dollar. */
const costly = {
  stream: wireForm('openai', [openaiChunk({ content: 'Yes.' }), { ...openaiChunk({}, 'stop'), usage }]),
}

type Headers = Record<string, string>
interface Failed {
  error: string
  code: string
}

async function person(email: string): Promise<Headers> {
  const iat = Math.floor(clock.now() / 1000)
  return await gateway.headers(email, { iat, exp: iat + 90 * 24 * 3600 })
}

function send(agentId: string, headers: Headers, body: object = {}): Promise<Answer<Failed>> {
  return app.call('POST', `/api/agents/${agentId}/chat`, { body: { ...plain, ...body }, headers })
}

/** Sends turns until one is refused; how many were answered, and the sentence of the refusal. */
async function spend(agentId: string, headers: Headers): Promise<[answered: number, error: string]> {
  for (let answered = 0; ; answered += 1) {
    const { status, body } = await send(agentId, headers)
    if (status !== 200) return [answered, body.error]
  }
}

/** Each test has a month of its own. */
function beginMonth(): void {
  clock.advance(31 * 24 * 3_600_000)
}

const ofPerson =
  /^Your budget over all agents for this month is spent\. It begins anew on \d{4}-\d\d-01 \(UTC\); until then, the operator can raise BUDGET_PERSON_MONTHLY_TOKENS or BUDGET_PERSON_MONTHLY_USD, and agents with a model key of their own still answer\.$/
const ofAll =
  /^The budget of this service's own model credentials for this month is spent\. It begins anew on \d{4}-\d\d-01 \(UTC\); until then, the operator can raise BUDGET_MONTHLY_TOKENS or BUDGET_MONTHLY_USD, and agents with a model key of their own still answer\.$/

describe('the budget of a person', () => {
  it('counts over all agents, with all keys, also of an agent that was deleted, and no turns on own keys', async () => {
    beginMonth()
    const ada = await person('ada@example.com')
    const [first, second, third] = [
      await makeAgent(app, { headers: ada }),
      await makeAgent(app, { headers: ada }),
      await makeAgent(app, { headers: ada }),
    ]
    const { body: key } = await app.call<{ key: string }>('POST', `/api/agents/${second}/keys`, {
      body: { name: 'CI', role: 'chat' },
      headers: ada,
    })
    const byKey = { authorization: `Bearer ${key.key}` }
    await app.call('PUT', `/api/agents/${third}/settings`, {
      body: { openai_compatible_api_key: 'own' },
      headers: ada,
    })
    for (let turn = 0; turn < 4; turn += 1) expect((await send(third, ada)).status).toBe(200)
    expect((await send(first, ada)).status).toBe(200)
    expect((await send(second, byKey)).status).toBe(200)
    await app.call('DELETE', `/api/agents/${first}`, { headers: ada })
    // Long enough for the row to be counted again.
    clock.advance(3_600_000)
    expect(await spend(second, ada)).toEqual([2, expect.stringMatching(ofPerson)])
    expect(await send(second, byKey)).toMatchObject({ status: 429, body: { code: 'BUDGET_SPENT' } })
    expect((await send(third, ada)).status).toBe(200)
    expect((await send(second, ada, { model: 'builtin' })).status).toBe(200)
    const address = { llm_base_url: model.url }
    await app.call('PUT', `/api/agents/${second}/settings`, { body: address, headers: ada })
    expect((await send(second, ada)).status).toBe(200)
    const bob = await person('bob@example.com')
    expect(await spend(await makeAgent(app, { headers: bob }), bob)).toEqual([
      3,
      expect.stringMatching(ofAll),
    ])
  })

  it('of an agent’s owner counts its schedules and workflows', async () => {
    beginMonth()
    const ada = await person('ada@example.com')
    const id = await makeAgent(app, { headers: ada })
    const calls = workflowCalls(
      { call: (method, path, options) => app.call(method, path, { ...options, headers: ada }) },
      `/api/agents/${id}`,
    )
    const nodes = { start: { type: 'trigger' }, ask: { type: 'chat', message: 'Hi' } }
    const workflow = await calls.create(nodes, ['start > ask'])
    expect(await calls.run(workflow)).toMatchObject({ status: 'complete' })
    const schedule = {
      name: 'S',
      type: 'cron',
      cron_expression: '0 * * * *',
      callback_type: 'chat',
      callback_data: { content: 'Hi' },
    }
    const made = await app.call<{ id: string }>('POST', `/api/agents/${id}/schedules`, {
      body: schedule,
      headers: ada,
    })
    expect(made.status).toBe(201)
    await passTime(app, clock, 3_600_000)
    expect((await spend(id, ada))[0]).toBe(2)
    expect(await calls.run(workflow)).toMatchObject({
      status: 'errored',
      error: expect.stringMatching(/^[^.]*The budget over all agents of this agent's owner .* is spent\./),
    })
    await passTime(app, clock, 3_600_000)
    const { body } = await app.call<{ executions: { error: string }[] }>(
      'GET',
      `/api/agents/${id}/schedules/${made.body.id}`,
      { headers: ada },
    )
    expect(body.executions[0]?.error).toMatch(/this agent's owner/)
    await app.call('DELETE', `/api/agents/${id}/schedules/${made.body.id}`, { headers: ada })
  })
})

describe('the budget of all turns', () => {
  it('ends each way to the platform’s model, also of callers without a user, and no other', async () => {
    beginMonth()
    const everyone = await Promise.all(['ada', 'bob', 'eve'].map(name => person(`${name}@example.com`)))
    const [ada = {}, bob = {}, eve = {}] = everyone
    const agents = await Promise.all(everyone.map(headers => makeAgent(app, { headers })))
    const [ofAda = '', ofBob = '', ofEve = ''] = agents
    expect(await spend(ofAda, ada)).toEqual([4, expect.stringMatching(ofPerson)])
    expect((await send('default', {})).status).toBe(200)
    expect(await spend(ofBob, bob)).toEqual([2, expect.stringMatching(ofAll)])
    for (const [id, headers] of [
      [ofEve, eve],
      ['default', {}],
    ] as const)
      expect(await send(id, headers)).toMatchObject({
        status: 429,
        body: { error: expect.stringMatching(ofAll) },
      })
    const mcp = await app.call('POST', `/api/agents/${ofEve}/mcp/endpoint`, {
      headers: { ...eve, accept: 'application/json, text/event-stream' },
      body: {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'chat', arguments: { message: 'Hi' } },
      },
    })
    expect(JSON.stringify(mcp.body)).toContain('own model credentials for this month is spent')
    for (const body of [{ llm_provider: 'builtin' }, { openai_compatible_api_key: 'own' }]) {
      await app.call('PUT', `/api/agents/${ofEve}/settings`, { body, headers: eve })
      await app.call('PUT', `/api/agents/${ofEve}/settings`, {
        body: 'openai_compatible_api_key' in body ? { llm_provider: null } : {},
        headers: eve,
      })
      expect((await send(ofEve, eve)).status).toBe(200)
    }
    beginMonth()
    expect((await send(ofAda, await person('ada@example.com'))).status).toBe(200)
  })

  it('is full for a moment while turns have reserved the rest', async () => {
    beginMonth()
    const ada = await person('ada@example.com')
    const id = await makeAgent(app, { headers: ada })
    const held = Array.from({ length: 4 }, () => heldStream(['Well']))
    laid.push(...held.map(({ reply }) => reply))
    const path = `/api/agents/${id}/chat`
    const turns = held.map(() => app.call('POST', path, { body: plain, headers: ada }))
    await Promise.all(held.map(({ begun }) => begun))
    const refused = await app.call<Failed>('POST', path, { body: plain, headers: ada })
    expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '10' } })
    expect(refused.body.error).toBe(
      'Turns under way have reserved the rest of your budget over all agents. Try again in a moment.',
    )
    for (const { open } of held) open()
    for (const { status } of await Promise.all(turns)) expect(status).toBe(200)
    expect((await send(id, ada)).status).toBe(200)
  })
})

describe('clients of OpenAI', () => {
  const ask = (api: string, headers: Headers, agentId: string, body: object = {}) => {
    const said = { model: agentId, messages: [{ role: 'user', content: 'Hi' }], input: 'Hi' }
    return app.call<Failed>('POST', `/api/openai/v1/${api}`, {
      headers,
      body: { ...said, ...body },
    })
  }
  const withoutTools = { agentstead: { enableTools: false, autoRag: false } }
  const questions = () => model.requests.filter(({ method }) => method === 'POST').length
  const quota = (message: unknown) => ({
    message,
    type: 'insufficient_quota',
    param: null,
    code: 'insufficient_quota',
  })

  it('are told not to repeat what a spent budget refuses', async () => {
    beginMonth()
    const ada = await person('ada@example.com')
    const id = await makeAgent(app, { headers: ada })
    await spend(id, ada)
    for (const api of ['chat/completions', 'responses'])
      for (const stream of [false, true]) {
        const { status, headers, body } = await ask(api, ada, id, { stream })
        expect([status, headers['x-should-retry']]).toEqual([429, 'false'])
        expect(body).toEqual({ error: quota(expect.stringMatching(ofPerson)) })
      }
    // Elsewhere the answer is as it was.
    const { headers } = await send(id, ada)
    expect(headers['x-should-retry']).toBeUndefined()
  })

  it.each(['chat/completions', 'responses'])('may repeat what reservations refuse: %s', async api => {
    beginMonth()
    const ada = await person('ada@example.com')
    const id = await makeAgent(app, { headers: ada })
    const held = Array.from({ length: 4 }, () => heldStream(['Well']))
    laid.push(...held.map(({ reply }) => reply))
    const turns = held.map(() => ask(api, ada, id, withoutTools))
    await Promise.all(held.map(({ begun }) => begun))
    for (const stream of [false, true]) {
      const { status, headers, body } = await ask(api, ada, id, { stream })
      expect([status, headers['retry-after'], headers['x-should-retry']]).toEqual([429, '10', undefined])
      expect(body).toMatchObject({ error: { type: 'rate_limit_error', code: 'budget_spent' } })
    }
    for (const { open } of held) open()
    await Promise.all(turns)
  })

  it.each([
    ['chat/completions', true],
    ['chat/completions', false],
    ['responses', true],
    ['responses', false],
  ])('are told so in a turn that has begun: %s, streamed: %s', async (api, stream) => {
    beginMonth()
    const ada = await person('ada@example.com')
    const id = await makeAgent(app, { headers: ada })
    const call = openaiToolCall('search_knowledge', { query: 'x' })
    const spent = { ...openaiChunk({}), usage: { prompt_tokens: 3900, completion_tokens: 100 } }
    laid.push({ stream: call.toSpliced(-1, 0, `data: ${JSON.stringify(spent)}\n\n`) })
    const before = questions()
    const { status, headers, body } = await ask(api, ada, id, { stream })
    expect(questions()).toBe(before + 1)
    const said = /^Your budget over all agents .* still answer\. Tools had been called before: /
    if (!stream) {
      expect([status, headers['x-should-retry']]).toEqual([429, 'false'])
      expect(body).toEqual({ error: quota(expect.stringMatching(said)) })
      return
    }
    expect(status).toBe(200)
    const events = String(body)
      .split('\n')
      .flatMap(line => (line.startsWith('data: {') ? [JSON.parse(line.slice(6))] : []))
    expect(events.at(-1)).toMatchObject({ error: quota(expect.stringMatching(said)) })
    if (api === 'responses')
      expect(events.at(-2)).toMatchObject({
        type: 'response.failed',
        response: { status: 'failed', error: { code: 'insufficient_quota' } },
      })
  })
})

it('what was used in the month before a budget was set counts, of the platform’s credentials alone', async () => {
  const dataDirectory = temporaryDirectory(afterAll)
  const start = (budgets: Record<string, string>) =>
    buildApp({
      dataDirectory,
      clock,
      environment: { ...modelEnvironment, DEV_USER: 'dev@example.com', ...budgets },
    })
  const sendBy = async (of: TestApp, id: string) => {
    return await of.call<Failed>('POST', `/api/agents/${id}/chat`, { body: plain })
  }
  const before = await start({})
  const [house, own] = [await makeAgent(before), await makeAgent(before)]
  await before.call('PUT', `/api/agents/${own}/settings`, {
    body: { openai_compatible_api_key: 'own' },
  })
  for (const id of [house, own, own]) expect((await sendBy(before, id)).status).toBe(200)
  const { platform } = before.service.infrastructure
  expect(await platform.selectFrom('budgets').selectAll().execute()).toEqual([])
  await before.close()
  for (const [budgets, sentence] of [
    [{ BUDGET_MONTHLY_USD: '1.00' }, ofAll],
    [{ BUDGET_PERSON_MONTHLY_USD: '1' }, ofPerson],
    [{ BUDGET_MONTHLY_USD: '1.01', BUDGET_PERSON_MONTHLY_TOKENS: '1001' }, undefined],
  ] as const) {
    const after = await start(budgets)
    const { status, body } = await sendBy(after, house)
    expect(status).toBe(sentence ? 429 : 200)
    if (sentence) expect(body.error).toMatch(sentence)
    expect((await sendBy(after, own)).status).toBe(200)
    await after.close()
  }
})
