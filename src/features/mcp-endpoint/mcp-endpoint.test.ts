import type { Client } from '@modelcontextprotocol/client'
import { Ajv } from 'ajv'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type TestApp, testApp } from '#test/support/build-app.ts'
import { heldStream, refusal, usualAnswer } from '#test/support/chat-model.ts'
import { type ChatStage, setChatStage } from '#test/support/chat-stage.ts'
import { connectMcp, textOf } from '#test/support/mcp-client.ts'
import { uploadAndProcess } from '#test/support/upload.ts'
import manifest from '../../../package.json' with { type: 'json' }

const endpoint = '/api/agents/default/mcp/endpoint'
const accepted = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const listTools = { jsonrpc: '2.0', id: 1, method: 'tools/list' }

function post(app: TestApp, body: unknown, { path = endpoint, headers = {} } = {}) {
  const payload = typeof body === 'string' ? body : JSON.stringify(body)
  return app.call<{ error?: { code: number | string } }>('POST', path, {
    payload,
    headers: { ...accepted, ...headers },
  })
}

function callOf(name: string, input: Record<string, unknown>) {
  return { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: input } }
}

const say = (client: Client, message: string, more: object = {}) =>
  client.callTool({ name: 'chat', arguments: { message, ...more } })

const namesOf = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name)

describe.each([false, true])('an agent as an MCP server, for clients of the older protocol: %s', isOld => {
  it('introduces itself as it is at that moment', async () => {
    const app = await testApp({ environment: { DEV_USER: 'dev@example.com' } })
    const { body } = await app.call<{ id: string }>('POST', '/api/agents', {
      body: { name: 'helper', description: 'Knows the manual.' },
    })
    const address = await app.listen()
    const client = await connectMcp({ address, agentId: body.id, isOld })
    expect(client.getServerVersion()).toEqual({
      name: 'agentstead',
      title: 'helper',
      version: manifest.version,
    })
    expect(client.getInstructions()).toBe('Knows the manual.')
    expect(client.getServerCapabilities()).toEqual({ tools: {} })

    await app.call('PUT', `/api/agents/${body.id}`, { body: { name: 'renamed' } })
    const { tools } = await client.listTools()
    expect(tools.map(({ name, title }) => [name, title])).toEqual([
      ['chat', 'Chat with renamed'],
      ['search_knowledge', undefined],
      ['browse_url', undefined],
      ['execute_sql', undefined],
    ])
  })

  it('searches the documents of that agent, and chats about them, in one conversation', async () => {
    const app = await testApp()
    await uploadAndProcess(app, {
      name: 'tides.txt',
      content: 'The tide turns at noon in the harbour of Ys.',
    })
    const client = await connectMcp({ address: await app.listen(), isOld })

    const found = await client.callTool({ name: 'search_knowledge', arguments: { query: 'harbour of Ys' } })
    expect(found.structuredContent).toMatchObject({ results: [{ content: expect.stringContaining('noon') }] })
    expect(JSON.parse(textOf(found))).toEqual(found.structuredContent)

    const first = await say(client, 'When does the tide turn in the harbour of Ys?')
    expect(textOf(first)).toContain('noon')
    expect(first.structuredContent).toEqual({
      answer: textOf(first),
      conversationId: expect.any(String),
      messageId: expect.any(String),
    })
    const { conversationId } = first.structuredContent as { conversationId: string }
    const second = await say(client, 'And where?', { conversationId })
    expect(second.structuredContent).toMatchObject({ conversationId })
    const { body } = await app.call<{ messages: { role: string; id: string }[] }>(
      'GET',
      `/api/agents/default/chat?conversationId=${conversationId}`,
    )
    expect(body.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant'])
    expect(body.messages[1]?.id).toBe((first.structuredContent as { messageId: string }).messageId)
  })

  it('says in a result what the caller can mend, and in an error what no client should have asked', async () => {
    const app = await testApp()
    const client = await connectMcp({ address: await app.listen(), isOld })
    const results = await Promise.all([
      client.callTool({ name: 'search_knowledge', arguments: { query: [7] } }),
      client.callTool({ name: 'chat', arguments: { message: ' ' } }),
      say(client, 'Hello', { conversationid: 'misspelt' }),
      say(client, 'Hello', { conversationId: 'foreign' }),
      client.callTool({ name: 'browse_url', arguments: { url: 'http://127.0.0.1:1/' } }),
    ])
    expect(results.map(result => [result.isError, textOf(result)])).toEqual([
      [true, 'The arguments do not fit: query must be a string.'],
      [true, 'The arguments do not fit: message must not be blank.'],
      [true, 'The arguments do not fit: conversationid is not a known field.'],
      [true, 'Conversation not found'],
      [true, expect.stringContaining('127.0.0.1')],
    ])
    await expect(client.callTool({ name: 'nothing' })).rejects.toMatchObject({
      code: -32_602,
      message: 'There is no tool named nothing. See tools/list.',
    })
  })
})

describe('a chat through MCP', () => {
  let stage: ChatStage
  let address: string
  let agentId: string
  let chat: string

  beforeAll(async () => {
    stage = await setChatStage()
    address = await stage.app.listen()
  })

  afterAll(() => stage[Symbol.asyncDispose]())

  beforeEach(async () => {
    chat = await stage.makeChat()
    agentId = chat.split('/')[3] ?? ''
  })

  it.each([false, true])('tells how it goes to who wants to know (older protocol: %s)', async isOld => {
    const client = await connectMcp({ address, agentId, isOld })
    const told: unknown[] = []
    const params = { name: 'chat', arguments: { message: 'Hello' } }
    const result = await client.callTool(params, { onprogress: progress => told.push(progress) })
    expect(textOf(result)).toBe(usualAnswer)
    expect(told).toEqual([
      { progress: 1, message: 'Thinking' },
      { progress: 2, message: 'Answering' },
    ])
  })

  it('is refused while its conversation is locked, in words that say so', async () => {
    const client = await connectMcp({ address, agentId })
    const first = await say(client, 'Hello')
    const { conversationId } = first.structuredContent as { conversationId: string }
    const held = heldStream(['Half'], [' and half'])
    stage.model.next(held.reply)
    const running = say(client, 'Take your time.', { conversationId })
    await held.begun
    const refused = await say(client, 'Now!', { conversationId })
    const { body } = await stage.app.call<{ error: string }>('POST', chat, {
      body: { content: 'Now!', conversationId },
    })
    expect([refused.isError, textOf(refused)]).toEqual([true, body.error])
    held.open()
    expect(textOf(await running)).toBe('Half and half')
  })

  const patient = callOf('chat', { message: 'Take your time.' })

  const callByHand = (signal: AbortSignal) =>
    fetch(`${address}/api/agents/${agentId}/mcp/endpoint`, {
      method: 'POST',
      headers: accepted,
      body: JSON.stringify(patient),
      signal,
    })

  async function callByClient(signal: AbortSignal) {
    const client = await connectMcp({ address, agentId })
    return client.callTool(patient.params, { signal })
  }

  it.each([false, true])('ends when its client goes away (older protocol: %s)', async isOld => {
    const held = heldStream(['Half'])
    stage.model.next(held.reply)
    const gone = new AbortController()
    const calling = isOld ? callByHand(gone.signal) : callByClient(gone.signal)
    await Promise.all([held.begun.then(() => gone.abort()), expect(calling).rejects.toThrow()])
    await held.ended
    await expect
      .poll(() => stage.messages(chat))
      .toMatchObject([{ content: 'Take your time.' }, { content: 'Half', metadata: { aborted: true } }])
    const [message] = await stage.messages(chat)
    await expect
      .poll(() => stage.send(chat, { content: 'Again', conversationId: message?.conversationId }))
      .toMatchObject({ status: 200 })
  })

  it('fails without a word of what the model service said', async () => {
    const client = await connectMcp({ address, agentId })
    stage.model.next(refusal(401, 'secret of the provider'))
    const result = await say(client, 'Hello')
    expect(result.isError).toBe(true)
    expect(textOf(result)).not.toContain('secret')
  })

  it('waits, as its other tools do, while the agent is paused; its documents stay open', async () => {
    await stage.app.call('PUT', `/api/agents/${agentId}`, { body: { status: 'paused' } })
    const client = await connectMcp({ address, agentId })
    const results = [
      await say(client, 'Hello'),
      await client.callTool({ name: 'browse_url', arguments: { url: 'http://example.com/' } }),
      await client.callTool({ name: 'search_knowledge', arguments: { query: 'anything' } }),
    ]
    expect(results.map(result => [result.isError ?? false, textOf(result)])).toEqual([
      [true, 'This agent is paused and does not answer. Set its status to active first.'],
      [true, 'This agent is paused, so that its tools rest. Set its status to active first.'],
      [false, '{"results":[]}'],
    ])
  })
})

describe('the messages', () => {
  it('need no session, and none of a client’s making is refused', async () => {
    const app = await testApp()
    for (const headers of [{}, { 'mcp-session-id': 'made-up' }]) {
      const { status, body, headers: answered } = await post(app, listTools, { headers })
      expect([status, answered['mcp-session-id']]).toEqual([200, undefined])
      expect(String(body)).toContain('search_knowledge')
    }
  })

  it('are refused in JSON-RPC where they are none of the protocol, or come in batches', async () => {
    const app = await testApp()
    const manyNames = Array.from({ length: 90_000 }, (_, at) => [`k${at}`, 1])
    const refused = [
      ['{', 400, -32_700],
      ['', 400, -32_600],
      ['null', 400, -32_600],
      ['{"jsonrpc":"2.0","id":1,"method":"\\u0000"}', 400, -32_600],
      [{}, 400, -32_600],
      [[listTools], 400, -32_600],
      [[], 400, -32_600],
      [Array(50).fill(callOf('chat', { message: 'Hello' })), 400, -32_600],
      [{ ...listTools, params: { _meta: Object.fromEntries(manyNames) } }, 400, -32_600],
    ] as const
    for (const [body, status, code] of refused) {
      const answer = await post(app, body)
      expect([answer.status, answer.body.error?.code], JSON.stringify(body).slice(0, 80)).toEqual([
        status,
        code,
      ])
    }
    const missing = await app.call('POST', endpoint, { headers: { accept: accepted.accept } })
    expect([missing.status, missing.body]).toMatchObject([400, { error: { code: -32_600 }, id: null }])
    const { status, body } = await post(app, { ...listTools, method: 'no/such' })
    expect(status).toBe(200)
    expect(String(body)).toContain('-32601')
    const notification = await post(app, { jsonrpc: '2.0', method: 'notifications/initialized' })
    expect([notification.status, notification.body]).toEqual([202, ''])
  })

  it('are refused as everywhere where HTTP is at fault', async () => {
    const app = await testApp()
    const huge = await post(app, callOf('chat', { message: 'x'.repeat(1024 * 1024) }))
    expect([huge.status, huge.body.error?.code]).toEqual([413, 'PAYLOAD_TOO_LARGE'])
    const text = await post(app, listTools, { headers: { 'content-type': 'text/plain' } })
    expect([text.status, text.body.error?.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE'])
    const html = await post(app, listTools, { headers: { accept: 'text/html' } })
    expect(html.status).toBe(406)
    const { body: described } = await app.call<{ paths: Record<string, { post?: { responses: object } }> }>(
      'GET',
      '/openapi.json',
    )
    expect(described.paths['/api/agents/{id}/mcp/endpoint']?.post?.responses).toMatchObject({
      202: { description: expect.any(String) },
      406: { content: { 'application/json': { schema: { $ref: '#/components/schemas/JsonRpcError' } } } },
    })
    const future = await post(app, listTools, { headers: { 'mcp-protocol-version': '2999-01-01' } })
    expect(future.status).toBe(400)
  })

  it('are refused as the OpenAPI document says', async () => {
    const app = await testApp()
    const ajv = new Ajv({ strict: false, validateFormats: false })
    ajv.addSchema({ $id: 'api', ...(await app.call<object>('GET', '/openapi.json')).body })
    for (const message of [[listTools], { ...listTools, more: 1 }, { ...listTools, id: 'a', more: 1 }]) {
      const { status, body } = await post(app, message)
      expect(status).toBe(400)
      expect(ajv.validate({ $ref: 'api#/components/schemas/JsonRpcError' }, body), ajv.errorsText()).toBe(
        true,
      )
    }
  })

  it.each(['GET', 'DELETE'])('are not sent with %s', async method => {
    const app = await testApp()
    const { status, headers, body } = await app.call(method, endpoint, {
      headers: { accept: 'text/event-stream', 'mcp-session-id': 'made-up' },
    })
    expect([status, headers.allow]).toEqual([405, 'POST'])
    expect(body).toMatchObject({ jsonrpc: '2.0', error: { code: -32_000 }, id: null })
  })

  it('keep no stream of news open', async () => {
    const app = await testApp()
    const client = await connectMcp({ address: await app.listen() })
    const news = await client.listen({ toolsListChanged: true })
    expect(news.honoredFilter).toEqual({})
    await news.closed
  })
})

describe('the limits', () => {
  const told = async (client: Client) => {
    const result = await say(client, 'Hello')
    return [result.isError ?? false, /Too many requests: 2 a minute/.test(textOf(result))]
  }

  it('of chat hold for chats through MCP, together with all others of that address', async () => {
    const app = await testApp({ environment: { RATE_LIMIT_CHAT: '2' } })
    const client = await connectMcp({ address: await app.listen() })
    for (let n = 0; n < 5; n += 1) await namesOf(client)
    expect((await app.call('POST', '/api/agents/default/chat', { body: { content: 'Hello' } })).status).toBe(
      200,
    )
    expect(await told(client)).toEqual([false, false])
    expect(await told(client)).toEqual([true, true])
    const { status } = await app.call('POST', '/api/agents/default/chat', { body: { content: 'Hello' } })
    expect(status).toBe(429)
    expect(await namesOf(client)).toContain('chat')
  })

  it('for everything hold for each message', async () => {
    const app = await testApp({ environment: { RATE_LIMIT_GENERAL: '2' } })
    const statuses = []
    for (const method of ['POST', 'GET', 'POST']) statuses.push((await app.call(method, endpoint)).status)
    expect(statuses).toEqual([400, 405, 429])
  })
})

describe('callers are met as they are', () => {
  const handshake = {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'c', version: '1' },
  }

  it.each<[string, string, unknown]>([
    ['parameters that are null', 'tools/list', null],
    ['a cursor that is null', 'tools/list', { cursor: null }],
    ['_meta that is null', 'tools/list', { _meta: null }],
    ['arguments that are null', 'tools/call', { name: 'f', arguments: null, _meta: null }],
    ['a handshake with a title that is null', 'initialize', { ...handshake, _meta: null }],
    ['a number written as text', 'tools/call', { name: 'f', arguments: { n: '5' } }],
  ])('%s', async (_, method, params) => {
    const app = await testApp({ environment: { PUBLIC_ACCESS: 'full' } })
    const parameters = { type: 'object', properties: { n: { type: 'integer' } } }
    const configuration = { code: 'return args.n ?? 0', parameters }
    await app.call('POST', '/api/agents/default/tools', {
      body: { name: 'f', type: 'javascript', configuration },
    })
    const { status, body } = await post(app, { jsonrpc: '2.0', id: 1, method, params })
    expect([status, body]).toEqual([200, expect.not.objectContaining({ error: expect.anything() })])
    if (JSON.stringify(params).includes('"5"'))
      expect(JSON.stringify(body)).toContain('n (text) was read as integer')
  })

  it.each<[string, unknown]>([
    ['tools/list', { cursor: 7 }],
    ['tools/list', []],
    ['tools/call', { name: 7 }],
    ['tools/call', { name: 'search_knowledge', arguments: 'text' }],
    ['tools/call', { name: 'search_knowledge', arguments: [1] }],
    ['initialize', { ...handshake, protocolVersion: 7 }],
    ['initialize', { ...handshake, clientInfo: 'c' }],
  ])('but %s with %j is their mistake', async (method, params) => {
    const app = await testApp()
    const { body } = await post(app, { jsonrpc: '2.0', id: 1, method, params })
    expect(body).toMatchObject({
      id: 1,
      error: { code: -32_602, message: expect.not.stringContaining('\n') },
    })
  })

  it.each(['*/*', 'application/*', 'APPLICATION/JSON', 'application/json;q=0.9, */*;q=0.1'])(
    'Accept: %s',
    async accept => {
      const app = await testApp()
      for (const path of [endpoint, `${endpoint}/`, `${endpoint}/mcp/`])
        expect((await post(app, listTools, { path, headers: { accept } })).status).toBe(200)
    },
  )

  it.each(['text/html', 'application/json;q=0'])('but Accept: %s covers no answer', async accept => {
    expect((await post(await testApp(), listTools, { headers: { accept } })).status).toBe(406)
  })

  it('one who takes no streams is sent none', async () => {
    // Separators of Unicode end no line of a stream.
    const id = 'a\u2028data: b\u2029'
    const { headers, body } = await post(
      await testApp(),
      { ...listTools, id },
      { headers: { accept: 'application/json' } },
    )
    expect(headers['content-type']).toMatch(/^application\/json/)
    expect(body).toMatchObject({ id, result: { tools: expect.any(Array) } })
  })
})
