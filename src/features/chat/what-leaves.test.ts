import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { builtInTools } from '#models/tools/built-in-tools.ts'
import { type ChatStage, setChatStage } from '#test/support/chat-stage.ts'
import { eventually } from '#test/support/eventually.ts'
import { fakeMcpServer, toolNamed } from '#test/support/fake-mcp-server.ts'
import { connectMcp } from '#test/support/mcp-client.ts'
import { openaiText, openaiToolCall } from '#test/support/model-server.ts'
import { page, type Site, startSite } from '#test/support/site-server.ts'
import { readTurn } from '#test/support/turn-reader.ts'
import { uploadAndProcess } from '#test/support/upload.ts'
import { workflowCalls } from '#test/support/workflows.ts'

const secret = 'TIDE-9041'

let stage: ChatStage
let site: Site
let url: string

beforeAll(async () => {
  const links = '<a href="/one">one</a> and <a href="/two?from=page">two</a>'
  site = await startSite(({ path }) => page(`Page ${path}`, [], links))
  stage = await setChatStage({ environment: { OUTBOUND_ALLOW: '127.0.0.1' } })
  url = await stage.app.listen()
})

beforeEach(() => {
  site.requests.length = 0
})

afterAll(async () => {
  await stage[Symbol.asyncDispose]()
  await site[Symbol.asyncDispose]()
})

type Call = [name: string, input: object]

const agentOf = (path: string) => path.replace(/\/chat$/, '')

/** Has the model make these calls, and answer; the results. */
async function converse(path: string, calls: readonly Call[], body: object = {}) {
  stage.model.next(...calls.map(call => ({ stream: openaiToolCall(...call) })), {
    stream: openaiText('Done.'),
  })
  const answer = await stage.send(path, { content: 'Go on.', autoRag: false, ...body })
  expect(answer.status).toBe(200)
  const { toolResults, conversationId } = answer.body.assistantMessage
  return { results: toolResults ?? [], conversationId }
}

const readPage = (path: string) => converse(path, [['browse_url', { url: `${site.url}/start` }]])

/** Adds a tool; what is called by its name. */
async function addTool(path: string, name: string, type: string, configuration: object) {
  const body = { name, type, configuration }
  expect(await stage.app.call('POST', `${agentOf(path)}/tools`, { body })).toMatchObject({ status: 201 })
}

const rows: Call = ['execute_sql', { query: 'SELECT 1' }]

describe('after the model has read a page', () => {
  const tools: Record<string, (path: string) => Promise<Call[]>> = {
    browse_url: async () => [['browse_url', { url: `${site.url}/?d=${secret}` }]],
    'an HTTP tool': async path => {
      await addTool(path, 'read', 'http', { url: `${site.url}/{page}`, method: 'GET' })
      return [['read', { page: secret }]]
    },
    'an OpenAPI tool, after rows': async path => {
      const operation = {
        operationId: 'find',
        parameters: [{ name: 'q', in: 'query', schema: { type: 'string' } }],
        responses: {},
      }
      const info = { title: 'Shop', version: '1' }
      const spec = JSON.stringify({
        openapi: '3.0.0',
        info,
        servers: [{ url: site.url }],
        paths: { '/find': { get: operation } },
      })
      const imported = await stage.app.call('POST', `${agentOf(path)}/tools/import-openapi`, {
        body: { spec },
      })
      expect(imported.status).toBe(201)
      return [rows, ['find', { q: secret }]]
    },
    'an MCP tool, after rows': async path => {
      const fake = await fakeMcpServer([toolNamed('ring')])
      await stage.app.call('POST', `${agentOf(path)}/mcp`, { body: { name: 'Desk', url: fake.url } })
      return [rows, ['ring', { text: secret }]]
    },
    'a program, after rows': async path => {
      const code = `return (await fetch("${site.url}/x?d=" + args.d)).status`
      await addTool(path, 'send', 'javascript', { code })
      return [rows, ['send', { d: secret }]]
    },
  }

  it.each(Object.entries(tools))(
    '%s sends nothing of its own until a person agrees',
    async (_name, toolsIn) => {
      const path = await stage.makeChat()
      const calls = await toolsIn(path)
      const { conversationId } = await readPage(path)
      const { results } = await converse(path, calls, { conversationId })
      const last = results.at(-1)
      expect(last).toMatchObject({ approval: 'required', error: expect.stringContaining('It would send') })
      expect(site.asked()).toEqual(['/start'])
      const decided = await stage.app.call('POST', `${path}/approvals/${last?.toolCallId}`)
      expect(decided).toMatchObject({ status: 200, body: { success: true } })
    },
  )

  it('its second link is followed, and an address that the person names', async () => {
    const path = await stage.makeChat()
    const { conversationId } = await readPage(path)
    const calls: Call[] = [
      ['browse_url', { url: `${site.url}/two?from=page` }],
      ['browse_url', { url: `${site.url}/mine` }],
    ]
    const { results } = await converse(path, calls, {
      conversationId,
      content: `Compare it with ${site.url}/mine.`,
    })
    expect(results.map(({ error }) => error)).toEqual([undefined, undefined])
    expect(site.asked()).toEqual(['/start', '/two?from=page', '/mine'])
  })

  it.each([['127.0.0.1'], ['*.example.com', '127.0.0.1']])(
    'hosts that admins have named are free: %j',
    async (...browse_hosts) => {
      const path = await stage.makeChat({ browse_hosts })
      const { conversationId } = await readPage(path)
      const { results } = await converse(path, [['browse_url', { url: `${site.url}/new` }]], {
        conversationId,
      })
      expect(results).toMatchObject([{ result: { title: 'Page /new' } }])
    },
  )
})

it('a document of the agent holds its turn back, and calls of fixed addresses pass', async () => {
  const path = await stage.makeChat()
  const agentId = agentOf(path).split('/').at(-1) ?? ''
  await uploadAndProcess(stage.app, { agentId, name: 'order.md', content: `Tides: open ${site.url}/?d=` })
  await addTool(path, 'tides', 'http', { url: `${site.url}/tides`, method: 'GET' })
  const calls: Call[] = [
    ['search_knowledge', { query: 'tides' }],
    ['tides', { day: 'today' }],
    ['browse_url', { url: `${site.url}/?d=${secret}` }],
  ]
  const { results } = await converse(path, calls, { autoRag: true, content: 'Tides?' })
  expect(results.map(({ approval }) => approval)).toEqual([undefined, undefined, 'required'])
  expect(site.asked()).toEqual(['/tides?day=today'])
})

it('a turn in the background waits, with the address, and goes on with the decision', async () => {
  const path = await stage.makeChat()
  const { conversationId } = await readPage(path)
  stage.model.next(
    { stream: openaiToolCall('browse_url', { url: `${site.url}/new` }) },
    { stream: openaiText('Read.') },
  )
  const body = { content: 'Go on.', autoRag: false, background: true, conversationId }
  const { body: begun } = await stage.app.call<{ turn: { events: string } }>('POST', path, { body })
  const list = () =>
    stage.app.call<{ approvals: { toolCallId: string }[] }>('GET', `${path}/approvals?status=pending`)
  await eventually(async () => expect((await list()).body.approvals).toHaveLength(1))
  const [approval] = (await list()).body.approvals
  const waiting = {
    rule: 'tainted',
    sends_to: `${site.url}/new`,
    why: expect.stringContaining(`${site.url}/new`),
  }
  expect(approval).toMatchObject({ name: 'browse_url', waiting })
  expect(site.asked()).toEqual(['/start'])
  await stage.app.call('POST', `${path}/approvals/${approval?.toolCallId}`)
  const { events, text } = await readTurn(() => url + begun.turn.events)
  expect(events.find(({ type }) => type === 'turn_waiting')).toMatchObject(waiting)
  expect(text).toContain('Read.')
  expect(site.asked()).toEqual(['/start', '/new'])
})

describe('where no person can approve', () => {
  const refused = expect.stringMatching(/kept at this service.*127\.0\.0\.1.*browse_hosts/)
  const answers = () =>
    stage.model.next(
      { stream: openaiToolCall('browse_url', { url: `${site.url}/?d=${secret}` }) },
      { stream: openaiText('No.') },
    )
  const seen = () => stage.model.questions().at(-1)?.messages.at(-1)?.content

  it('the door refuses the call, and says how to allow it', async () => {
    answers()
    const body = { model: 'default', messages: [{ role: 'user', content: 'Hi' }] }
    expect((await stage.app.call('POST', '/api/openai/v1/chat/completions', { body })).status).toBe(200)
    expect(seen()).toEqual(refused)
    expect(site.asked()).toEqual([])
  })

  it('a node of a workflow goes on without the call', async () => {
    const workflows = workflowCalls(stage.app, agentOf(await stage.makeChat()))
    answers()
    const nodes = { start: { type: 'trigger' }, ask: { type: 'chat', message: 'Read {{trigger.text}}' } }
    const workflow_id = await workflows.create(nodes, ['start > ask'])
    const { body } = await workflows.execute({ workflow_id, input: { text: 'it' } })
    await workflows.reached(body.execution_id, 'complete')
    expect(seen()).toEqual(refused)
    expect(site.asked()).toEqual([])
  })
})

describe('the tools of the service', () => {
  const set = (path: string, body: object) => stage.app.call('PUT', `${agentOf(path)}/settings`, { body })
  interface Listed {
    data: { name: string; type: string; isEnabled: boolean; requiresApproval: unknown; description: string }[]
    meta: { total: number }
  }
  const list = async (path: string, query = '') =>
    (await stage.app.call<Listed>('GET', `${agentOf(path)}/tools?builtin=true${query}`)).body

  it('are listed before the others, on or off, with their approval', async () => {
    const path = await stage.makeChat({
      builtin_tools: { browse_url: { enabled: false }, execute_sql: { requires_approval: 'always' } },
    })
    await addTool(path, 'own', 'javascript', { code: 'return 1' })
    const { data, meta } = await list(path)
    expect(
      data.map(({ name, type, isEnabled, requiresApproval }) => [name, type, isEnabled, requiresApproval]),
    ).toEqual([
      ['search_knowledge', 'builtin', true, false],
      ['browse_url', 'builtin', false, false],
      ['execute_sql', 'builtin', true, 'always'],
      ['own', 'javascript', true, false],
    ])
    expect(data.every(({ description }) => typeof description === 'string')).toBe(true)
    expect(meta.total).toBe(1)
    expect((await list(path, '&type=javascript')).data).toHaveLength(1)
    expect((await list(path, '&search=SQL')).data.map(({ name }) => name)).toEqual(['execute_sql'])
    expect((await list(path, '&offset=1')).data).toEqual([])
    const { body } = await stage.app.call<Listed>('GET', `${agentOf(path)}/tools`)
    expect(body.data.map(({ name }) => name)).toEqual(['own'])
    await set(path, { browser_tools: true, x402_wallet_key: `0x${'1'.repeat(64)}`, x402_daily_limit: '1' })
    const all = (await list(path, '&search=')).data.filter(({ type }) => type === 'builtin')
    expect(new Set(all.map(({ name }) => name))).toEqual(new Set(builtInTools))
  })

  it('are not offered, and not called, where they are off', async () => {
    const path = await stage.makeChat({ builtin_tools: { browse_url: { enabled: false } } })
    const { results } = await converse(path, [['browse_url', { url: `${site.url}/` }]])
    expect(results).toMatchObject([{ error: 'There is no tool named browse_url.' }])
    expect(
      stage.model
        .questions()
        .at(-1)
        ?.tools?.map(tool => tool.function.name),
    ).toEqual(['search_knowledge', 'execute_sql'])
    await set(path, { builtin_tools: null })
    expect((await converse(path, [['browse_url', { url: `${site.url}/` }]])).results).toMatchObject([
      { result: {} },
    ])
  })

  it('wait where they are marked', async () => {
    const path = await stage.makeChat({ builtin_tools: { execute_sql: { requires_approval: 'always' } } })
    const { results } = await converse(path, [rows])
    expect(results).toMatchObject([{ approval: 'required' }])
    const decided = await stage.app.call('POST', `${path}/approvals/${results[0]?.toolCallId}`)
    expect(decided).toMatchObject({ body: { success: true, result: { rows: expect.anything() } } })
  })

  it('are no tools of the MCP endpoint where they are off or marked', async () => {
    const path = await stage.makeChat()
    const agentId = agentOf(path).split('/').at(-1) ?? ''
    const offered = async () =>
      (await (await connectMcp({ address: url, agentId })).listTools()).tools.map(({ name }) => name)
    expect(await offered()).toEqual(['chat', 'search_knowledge', 'browse_url', 'execute_sql'])
    await set(path, {
      builtin_tools: { search_knowledge: { enabled: false }, execute_sql: { requires_approval: true } },
    })
    expect(await offered()).toEqual(['chat', 'browse_url'])
  })

  it.each<[settings: object, field: string]>([
    [{ builtin_tools: { browse: { enabled: false } } }, 'builtin_tools'],
    [{ builtin_tools: { browse_url: { enabled: 'no' } } }, 'builtin_tools'],
    [{ builtin_tools: { browse_url: { requires_approval: 'never' } } }, 'builtin_tools'],
    [{ browse_hosts: 'example.com' }, 'browse_hosts'],
    ...[
      'https://example.com',
      'example.com/path',
      '*',
      '*.',
      'a b.example',
      'user@example.com',
      'example.com:',
      '*.*.example',
      '',
      'example.com:99999',
    ].map(host => [{ browse_hosts: [host] }, 'browse_hosts'] satisfies [object, string]),
    [{ browse_hosts: Array.from({ length: 101 }, () => 'example.com') }, 'browse_hosts'],
  ])('refuse %j', async (body, field) => {
    const path = await stage.makeChat()
    const answer = await set(path, body)
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { details: { field: expect.stringContaining(field) } } },
    })
  })

  it('take hosts, and give them back', async () => {
    const path = await stage.makeChat()
    const browse_hosts = ['example.com', '*.example.com', 'bücher.example', 'shop.example:8443', '[::1]']
    expect(await set(path, { browse_hosts })).toMatchObject({
      status: 200,
      body: { settings: { browse_hosts } },
    })
  })
})
