import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { errorRow, limitRow, row } from '#test/spec/row.ts'
import { giveRole, makeAgent } from '#test/support/agents.ts'
import { type Answer, testApp } from '#test/support/build-app.ts'
import { refusal, startChatModel, usualAnswer } from '#test/support/chat-model.ts'
import { type ChatStage, type MessageList, setChatStage, type TurnBody } from '#test/support/chat-stage.ts'
import { startGateway } from '#test/support/gateway.ts'
import { openaiChunk, openaiText, openaiToolCall, wireForm } from '#test/support/model-server.ts'
import { nothingFits } from '../../models/builtin/answer.ts'

const path = '/api/agents/default/chat'

let stage: ChatStage
let app: ChatStage['app']
let model: ChatStage['model']
let makeChat: ChatStage['makeChat']

beforeAll(async () => {
  stage = await setChatStage()
  ;({ app, model, makeChat } = stage)
})

afterAll(() => stage[Symbol.asyncDispose]())

function send(body: unknown, to = path): Promise<Answer<TurnBody>> {
  return stage.send(to, body)
}

describe(`sending a message ${row('POST /api/agents/{id}/chat')}`, () => {
  it('answers with both messages, as they are stored', async () => {
    model.next({ stream: openaiText('It is', ' 40.') })
    const { status, headers, body } = await send({ content: 'What is the limit?' })
    expect(status).toBe(200)
    expect(headers['content-type']).toBe('application/json; charset=utf-8')
    const { conversationId } = body.userMessage
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(body).toEqual({
      userMessage: {
        id: expect.any(String),
        role: 'user',
        content: 'What is the limit?',
        conversationId,
        toolCalls: null,
        toolResults: null,
        createdAt: time,
        created_by: 'person:dev@example.com',
      },
      assistantMessage: {
        id: expect.any(String),
        role: 'assistant',
        content: 'It is 40.',
        conversationId,
        toolCalls: null,
        toolResults: null,
        metadata: { model: 'fake-model' },
        createdAt: time,
        created_by: 'person:dev@example.com',
      },
    })
    const read = await app.call<MessageList>('GET', `${path}?conversationId=${conversationId}`)
    expect(read.body.messages).toEqual([body.userMessage, body.assistantMessage])
  })

  it('makes a conversation, titled by the first line, and goes on with it', async () => {
    const first = await send({ content: 'Tides and dunes\nTell me about them.' })
    const { conversationId } = first.body.userMessage
    const second = await send({ content: 'And the sea?', conversationId })
    expect(second.body.userMessage.conversationId).toBe(conversationId)
    expect(second.body.assistantMessage.conversationId).toBe(conversationId)
    expect(model.questions().at(-1)?.messages.slice(1)).toEqual([
      { role: 'user', content: 'Tides and dunes\nTell me about them.' },
      { role: 'assistant', content: usualAnswer },
      { role: 'user', content: 'And the sea?' },
    ])
    const { body } = await app.call<{ conversations: object[] }>('GET', `${path}/conversations`)
    expect(body.conversations[0]).toMatchObject({
      id: conversationId,
      title: 'Tides and dunes',
      messageCount: 4,
      lastMessageAt: second.body.assistantMessage.createdAt,
    })
  })

  it.each([
    ['at a line break of any kind', 'Tides\r\nDunes', 'Tides'],
    ['at a word', `${'word '.repeat(30)}`, `${'word '.repeat(16).trim()}…`],
    ['never within a character', `a${'😀'.repeat(60)}`, `a${'😀'.repeat(39)}…`],
  ])('cuts a title %s', async (_where, content, title) => {
    const { body } = await send({ content })
    const list = await app.call<{ conversations: { id: string; title: string }[] }>(
      'GET',
      `${path}/conversations`,
    )
    const made = list.body.conversations.find(({ id }) => id === body.userMessage.conversationId)
    expect(made?.title).toBe(title)
  })

  it('tells the model of no other conversation', async () => {
    await send({ content: 'The password is swordfish.' })
    await send({ content: 'What is the password?' })
    expect(JSON.stringify(model.questions().at(-1))).not.toContain('swordfish')
  })

  it('sends the system prompt and the temperature of the agent', async () => {
    const to = await makeChat({ system_prompt: 'Answer in verse.', llm_temperature: 0.1 })
    await send({ content: 'Hello' }, to)
    expect(model.questions().at(-1)).toMatchObject({
      model: 'fake-model',
      temperature: 0.1,
      messages: [{ role: 'system', content: expect.stringContaining('Answer in verse.') }, { role: 'user' }],
    })
  })

  it('offers tools unless told not to', async () => {
    await send({ content: 'Hello' })
    const names = model
      .questions()
      .at(-1)
      ?.tools?.map(tool => tool.function.name)
    expect(names).toEqual(['search_knowledge', 'browse_url', 'execute_sql'])
    await send({ content: 'Hello', enableTools: false })
    expect(model.questions().at(-1)).not.toHaveProperty('tools')
  })

  it('says where the model gave an empty answer', async () => {
    model.next({ stream: wireForm('openai', [openaiChunk({}, 'stop')]) })
    const { status, body } = await send({ content: 'Say nothing.' })
    expect(status).toBe(500)
    expect(body).toMatchObject({
      error: expect.stringContaining('gave an empty answer'),
      code: 'MODEL_ERROR',
    })
  })

  it.each([
    ['length', true],
    ['content_filter', true],
    ['stop', undefined],
  ])('says whether the model was cut off, by the reason that it ended for: %s', async (reason, cutOff) => {
    model.next({
      stream: wireForm('openai', [openaiChunk({ content: 'It begins' }), openaiChunk({}, reason)]),
    })
    const { status, body } = await send({ content: `Tell me all until ${reason}` })
    expect([status, body.assistantMessage.content]).toEqual([200, 'It begins'])
    expect(body.assistantMessage.metadata?.cutOff).toBe(cutOff)
  })

  it('counts tokens as the model does', async () => {
    const usage = { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 }
    model.next({
      stream: wireForm('openai', [
        openaiChunk({ content: 'Hi' }),
        openaiChunk({}, 'stop'),
        { ...openaiChunk({}), choices: [], usage },
      ]),
    })
    const { body } = await send({ content: 'Count' })
    expect(body.assistantMessage.metadata?.usage).toEqual({ inputTokens: 12, outputTokens: 5 })
    const metrics = await app.call<string>('GET', '/metrics')
    expect(metrics.body).toContain('model_tokens_total{provider="openai-compatible",direction="input"} 12')
  })

  it('does not say that no tokens were used where the model does not tell', async () => {
    model.next({ stream: wireForm('openai', [openaiChunk({ content: 'Hi' }), openaiChunk({}, 'stop')]) })
    const { body } = await send({ content: 'Count' })
    expect(body.assistantMessage).toMatchObject({ content: 'Hi', metadata: { model: 'fake-model' } })
    expect(body.assistantMessage.metadata).not.toHaveProperty('usage')
  })

  it('answers from nothing with the built-in model: it says that nothing fits', async () => {
    const plain = await testApp()
    const { status, body } = await plain.call<TurnBody>('POST', path, {
      body: { content: 'What is the limit of the calibration?' },
    })
    expect(status).toBe(200)
    expect(body.assistantMessage).toMatchObject({
      content: nothingFits,
      toolCalls: [{ id: expect.stringMatching(/^[A-Za-z0-9]{9}$/), name: 'search_knowledge' }],
      toolResults: [{ name: 'search_knowledge', result: { results: [] } }],
      metadata: { model: 'builtin' },
    })
    expect(body.assistantMessage.toolResults?.[0]?.toolCallId).toBe(body.assistantMessage.toolCalls?.[0]?.id)
  })
})

describe('a message that is refused', () => {
  it.each<[what: string, body: unknown, says: string]>([
    ['no body', undefined, 'content is required'],
    ['no content', {}, 'content is required'],
    ['empty content', { content: '' }, 'content'],
    ['blank content', { content: ' \n\t' }, 'content'],
    ['content of another type', { content: 17 }, 'content must be a string'],
    ['content that is null', { content: null }, 'content must be a string'],
    [
      'content that is too long',
      { content: 'x'.repeat(100_001) },
      'content must have at most 100000 characters',
    ],
    ['a conversation id that is none', { content: 'Hi', conversationId: 7 }, 'conversationId'],
    ['an empty conversation id', { content: 'Hi', conversationId: '' }, 'conversationId'],
    ['a model that is no text', { content: 'Hi', model: {} }, 'model'],
    ['a truth value as text', { content: 'Hi', enableTools: 'yes' }, 'enableTools must be true or false'],
    ['a stream as a number', { content: 'Hi', stream: 1 }, 'stream must be true or false'],
    ['autoRag as null', { content: 'Hi', autoRag: null }, 'autoRag must be true or false'],
    ['content with U+0000', { content: 'a\u0000b' }, 'the character U+0000'],
    ['a conversation with U+0000', { content: 'Hi', conversationId: '\u0000' }, 'the character U+0000'],
    ['a list', [{ content: 'Hi' }], 'body must be an object'],
    ['a text', '"Hi"', 'body must be an object'],
  ])(`for %s is 400 in the shape of chat ${errorRow('chat', 400)}`, async (_what, body, says) => {
    const asked = model.questions().length
    const options = typeof body === 'string' ? { payload: body } : { body }
    const answer = await app.call('POST', path, {
      ...options,
      headers: { 'content-type': 'application/json' },
    })
    expect(answer.status).toBe(400)
    expect(answer.body).toEqual({ error: expect.stringContaining(says), code: 'VALIDATION_ERROR' })
    expect(model.questions()).toHaveLength(asked)
  })

  it('for malformed JSON is 400', async () => {
    const headers = { 'content-type': 'application/json' }
    const answer = await app.call('POST', path, { payload: '{"content":', headers })
    expect(answer).toMatchObject({ status: 400, body: { error: expect.any(String), code: 'MALFORMED_JSON' } })
  })

  it(`for a conversation that does not exist is 404, and nothing is stored ${errorRow('chat', 404)}`, async () => {
    const to = await makeChat()
    expect(await send({ content: 'Hi', conversationId: 'nothing-here' }, to)).toMatchObject({
      status: 404,
      body: { error: 'Conversation not found', code: 'NOT_FOUND' },
    })
    expect((await app.call('GET', to)).body).toMatchObject({ messages: [], meta: { total: 0 } })
  })

  it('for a conversation of another agent is 404', async () => {
    const { body } = await send({ content: 'Mine' })
    const to = await makeChat()
    const { conversationId } = body.userMessage
    expect((await send({ content: 'Hi', conversationId }, to)).status).toBe(404)
  })

  it('for an agent that is paused is 409', async () => {
    const to = await makeChat()
    await app.call('PUT', to.replace('/chat', ''), { body: { status: 'paused' } })
    expect(await send({ content: 'Hi' }, to)).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining('paused'), code: 'CONFLICT' },
    })
  })

  it(`for too many in a minute is 429 ${errorRow('chat', 429)} ${limitRow('rate-limit-chat')}`, async () => {
    const limited = await testApp({ environment: { RATE_LIMIT_CHAT: '' } })
    const ask = (to: string) => limited.call('POST', to, { body: { content: 'Hello' } })
    for (let sent = 1; sent <= 19; sent += 1) expect((await ask(path)).status).toBe(200)
    // Regenerating counts against the same limit.
    expect((await ask(`${path}/messages/none/regenerate`)).status).toBe(404)
    const answer = await ask(path)
    expect(answer).toMatchObject({
      status: 429,
      headers: {
        'x-ratelimit-limit': '20',
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': expect.stringMatching(/^\d{10}$/),
        'retry-after': expect.stringMatching(/^\d{1,2}$/),
      },
      body: { error: expect.stringContaining('20 a minute'), code: 'RATE_LIMITED' },
    })
    expect((await limited.call('GET', path)).status).toBe(200)
  })
})

describe('the model that answers', () => {
  it.each([
    ['an id of the list', 'fake-model', 'fake-model'],
    ['provider and id', 'openai-compatible/other-model', 'other-model'],
    ['an id that nobody lists', 'special-model', 'special-model'],
  ])('is the one that the message asks for: %s', async (_what, requested, asked) => {
    const { status, body } = await send({ content: 'Hi', model: requested })
    expect(status).toBe(200)
    expect(model.questions().at(-1)?.model).toBe(asked)
    expect(body.assistantMessage.metadata?.model).toBe(asked)
  })

  it('can be the built-in one for a single message', async () => {
    const asked = model.questions().length
    const { body } = await send({ content: 'What is a tide?', model: 'builtin' })
    expect(body.assistantMessage.metadata?.model).toBe('builtin')
    expect(model.questions()).toHaveLength(asked)
  })

  it.each([
    ['the agent’s', { llm_provider: 'anthropic' }, {}],
    ['the one that the message names', { llm_provider: 'builtin' }, { model: 'anthropic/claude-sonnet-5' }],
  ])('must be of a provider with credentials: %s has none', async (_whose, settings, options) => {
    const to = await makeChat(settings)
    const { status, body } = await send({ content: 'Hi', ...options }, to)
    expect(status).toBe(400)
    expect(body).toEqual({
      error: expect.stringMatching(/"anthropic" has no credentials.*anthropic_api_key/),
      code: 'MODEL_NOT_CONFIGURED',
    })
  })

  it('is the first that the server lists, where nobody chose one, as soon as the server is there', async () => {
    await using unchosen = await setChatStage({ environment: { DEFAULT_MODEL: '' } })
    unchosen.model.list({ status: 503, json: {} })
    for (const stream of [false, true])
      expect(await unchosen.send(path, { content: 'Hi', stream })).toMatchObject({
        status: 500,
        body: { error: expect.stringContaining('which models it has'), code: 'MODEL_ERROR' },
      })
    unchosen.model.list({ json: { data: [{ id: 'first-model' }, { id: 'other-model' }] } })
    const { status, body } = await unchosen.send(path, { content: 'Hi' })
    expect(status).toBe(200)
    expect(body.assistantMessage.metadata?.model).toBe('first-model')
  })

  it('has to be chosen, where nobody did and the server has no list', async () => {
    await using unchosen = await setChatStage({ environment: { DEFAULT_MODEL: '' } })
    unchosen.model.list({ status: 404, json: {} })
    expect(await unchosen.send(path, { content: 'Hi' })).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('DEFAULT_MODEL'), code: 'MODEL_NOT_CONFIGURED' },
    })
  })

  it('must exist: the provider’s word that it does not is 400', async () => {
    model.next(refusal(404, 'The model `nope` does not exist', 'model_not_found'))
    const { status, body } = await send({ content: 'Hi', model: 'nope' })
    expect(status).toBe(400)
    expect(body).toEqual({ error: expect.stringContaining('"nope"'), code: 'MODEL_UNKNOWN' })
  })

  it.each([['builtin/other'], ['openai-compatible/../../admin'], ['openai-compatible/a?b=c']])(
    'is not even asked for under the name %s',
    async name => {
      const asked = model.requests.length
      expect(await send({ content: 'Hi', model: name })).toMatchObject({
        status: 400,
        body: { code: 'MODEL_UNKNOWN' },
      })
      expect(model.requests).toHaveLength(asked)
    },
  )

  it(`may fail: 500, with nothing of what the service said, nor of the key ${errorRow('chat', 500)}`, async () => {
    const key = 'sk-agents-own-key-0123456789'
    const to = await makeChat({ openai_compatible_api_key: key })
    const trace = 'Traceback: /srv/llm/secret.py line 3'
    for (const status of [400, 401, 500]) {
      // A passing failure is tried twice more.
      const failure = refusal(status, `${trace}, key ${key}`)
      // An unclear refusal may be one of the tools, so that it is tried once more without them.
      model.next(...Array.from({ length: { 400: 2, 500: 3 }[status] ?? 1 }, () => failure))
      const answer = await send({ content: 'Hi' }, to)
      expect(answer).toMatchObject({ status: 500, body: { error: expect.any(String), code: 'MODEL_ERROR' } })
      expect(JSON.stringify(answer)).not.toMatch(/Traceback|sk-agents/)
    }
    expect(model.requests.at(-1)?.headers.authorization).toBe(`Bearer ${key}`)
    expect(app.logged.join('')).not.toContain(key)
  })

  it('may fail without taking the question along, which stays, unlocked', async () => {
    model.next(refusal(401, 'no'))
    const to = await makeChat()
    await send({ content: 'Hi' }, to)
    const { body } = await app.call<MessageList>('GET', to)
    expect(body.messages).toMatchObject([{ role: 'user', content: 'Hi' }])
    const conversationId = body.messages[0]?.conversationId
    expect((await send({ content: 'Again', conversationId }, to)).status).toBe(200)
  })

  it('may break off: what it said is kept, with the reason', async () => {
    model.next({ stream: openaiText('Half an', ' answer').slice(0, 2), cut: true })
    const to = await makeChat()
    expect(await send({ content: 'Hi' }, to)).toMatchObject({ status: 500, body: { code: 'MODEL_ERROR' } })
    const { body } = await app.call<MessageList>('GET', to)
    expect(body.messages[1]).toMatchObject({
      content: 'Half an answer',
      metadata: { model: 'fake-model', error: expect.stringContaining('openai-compatible') },
    })
  })
})

describe(`the models ${row('GET /api/agents/{id}/chat/models')}`, () => {
  interface ModelList {
    models: { id: string; provider: string }[]
    meta: object
  }

  it('are those of the agent’s providers, as they list them, and the built-in one', async () => {
    await using other = await startChatModel()
    other.list({
      json: {
        data: [
          { id: 'small', context_length: 4096 },
          { id: 'large', name: 'Large' },
        ],
      },
    })
    const mine = await testApp({ environment: other.environment })
    const { status, body } = await mine.call<ModelList>('GET', `${path}/models`)
    expect(status).toBe(200)
    const common = { supportsTools: true, supportsStreaming: true }
    const remote = { ...common, provider: 'openai-compatible' }
    expect(body).toEqual({
      models: [
        { id: 'small', name: 'small', contextWindow: 4096, ...remote },
        { id: 'large', name: 'Large', contextWindow: 32_768, ...remote },
        { id: 'builtin', name: expect.any(String), contextWindow: 32_768, provider: 'builtin', ...common },
      ],
      meta: { total: 3, limit: 50, offset: 0, has_more: false },
    })
  })

  it('are listed as every list is', async () => {
    const list = async (query: string) =>
      (await app.call<ModelList>('GET', `${path}/models?${query}`)).body.models.map(({ id }) => id)
    expect(await list('search=BUILT')).toEqual(['builtin'])
    expect(await list('sort=id&order=desc')).toEqual(['fake-model', 'builtin'])
    expect(await list('sort=id&limit=1&offset=1')).toEqual(['fake-model'])
    const wrong = await app.call('GET', `${path}/models?sort=price`)
    expect(wrong).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } })
  })

  it('fit their prompt: a small window gets a short one', async () => {
    await using small = await startChatModel()
    small.list({ json: { data: [{ id: 'fake-model', context_length: 3000 }] } })
    const mine = await testApp({ environment: small.environment })
    const ask = (content: string, conversationId?: string) =>
      mine.call<TurnBody>('POST', path, { body: { content, conversationId } })
    const { conversationId } = (await ask(`first ${'x'.repeat(4000)}`)).body.userMessage
    await ask(`second ${'y'.repeat(2000)}`, conversationId)
    await ask('third', conversationId)
    const { messages = [] } = small.questions().at(-1) ?? {}
    expect(JSON.stringify(messages).length).toBeLessThan(1500 * 4)
    expect(messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user'])
    expect(messages.at(-1)?.content).toBe('third')
  })
})

describe(`the tools ${row('GET /api/agents/{id}/chat/tools')}`, () => {
  interface ToolList {
    tools: { name: string }[]
    meta: { total: number; has_more: boolean }
  }

  it('are described as the model sees them', async () => {
    const { status, body } = await app.call('GET', `${path}/tools`)
    expect(status).toBe(200)
    const described = (name: string, parameter: string) => ({
      name,
      description: expect.any(String),
      parameters: {
        type: 'object',
        properties: {
          [parameter]: expect.objectContaining({ type: 'string', description: expect.any(String) }),
        },
        required: [parameter],
      },
    })
    expect(body).toEqual({
      tools: [
        described('search_knowledge', 'query'),
        described('browse_url', 'url'),
        described('execute_sql', 'query'),
      ],
      meta: { total: 3, limit: 50, offset: 0, has_more: false },
    })
  })

  it('of the agent are among them if all are asked for', async () => {
    const agentId = await makeAgent(app)
    const tools = `/api/agents/${agentId}/tools`
    const parameters = {
      type: 'object',
      properties: { place: { $ref: '#/$defs/place' } },
      required: ['place'],
      $defs: { place: { type: 'string', enum: ['harbour', 'quay'] } },
    }
    const own = { name: 'Tide gauge!', type: 'javascript', configuration: { code: 'return 1', parameters } }
    expect((await app.call('POST', tools, { body: own })).status).toBe(201)
    const off = { name: 'off', type: 'javascript', configuration: { code: 'return 1' }, isEnabled: false }
    expect((await app.call('POST', tools, { body: off })).status).toBe(201)
    const list = async (query: string) =>
      (await app.call<ToolList>('GET', `/api/agents/${agentId}/chat/tools${query}`)).body
    const builtin = ['search_knowledge', 'browse_url', 'execute_sql']
    const names = ({ tools }: ToolList) => tools.map(({ name }) => name)
    expect(names(await list(''))).toEqual(builtin)
    expect(names(await list('?scope=builtin'))).toEqual(builtin)
    const all = await list('?scope=all')
    expect(names(all)).toEqual([...builtin, 'Tide_gauge'])
    expect(all.tools.at(-1)).toMatchObject({ parameters })
    expect(await app.call('GET', `${path}/tools?scope=some`)).toMatchObject({ status: 400 })
  })

  it('of which there are many come in pages that are not too large', async () => {
    const agentId = await makeAgent(app)
    const properties = Object.fromEntries(
      Array.from({ length: 10 }, (_, n) => [`p${n}`, { type: 'string', description: 'x'.repeat(3000) }]),
    )
    for (let n = 0; n < 40; n += 1) {
      const configuration = { code: 'return 1', parameters: { type: 'object', properties } }
      const body = { name: `tool_${n}`, type: 'javascript', configuration }
      expect((await app.call('POST', `/api/agents/${agentId}/tools`, { body })).status).toBe(201)
    }
    const to = `/api/agents/${agentId}/chat/tools?scope=all`
    const { tools, meta } = (await app.call<ToolList>('GET', to)).body
    expect(meta).toMatchObject({ total: 43, has_more: true })
    const rest = (await app.call<ToolList>('GET', `${to}&offset=${tools.length}`)).body
    expect([...tools, ...rest.tools]).toHaveLength(43)
    expect(rest.meta.has_more).toBe(false)
  })

  it('are listed as every list is', async () => {
    const { body } = await app.call('GET', `${path}/tools?search=page&sort=name&limit=1`)
    expect(body).toMatchObject({ tools: [{ name: 'browse_url' }], meta: { total: 2, limit: 1 } })
  })
})

it('a field that is nearly one of a message is refused by its name, so that no message goes astray', async () => {
  const body = { content: 'Go on.', conversation_id: 'x' }
  expect(await app.call('POST', path, { body })).toMatchObject({
    status: 400,
    body: {
      code: 'VALIDATION_ERROR',
      error: 'conversation_id is not a known field: write conversationId.',
    },
  })
})

describe('who may chat', () => {
  it('are an agent’s owner and admins; viewers read; the rest is kept out, from the next request on', async () => {
    const gateway = await startGateway()
    const guarded = await testApp({ environment: gateway.environment })
    const olga = await gateway.headers('olga@example.com')
    const vera = await gateway.headers('vera@example.com')
    const agentId = await makeAgent(guarded, { headers: olga })
    const to = `/api/agents/${agentId}/chat`
    const ask = (headers: Record<string, string>) =>
      guarded.call<TurnBody>('POST', to, { headers, body: { content: 'Hello' } })
    const give = (role: 'viewer' | 'admin') =>
      giveRole(guarded, agentId, { email: 'vera@example.com', role, headers: olga })
    const take = (entry: string) => guarded.call('DELETE', entry, { headers: olga })

    expect((await ask(vera)).status).toBe(403)
    const viewer = await give('viewer')
    expect((await ask(vera)).status).toBe(403)
    expect((await guarded.call('GET', to, { headers: vera })).status).toBe(200)
    await take(viewer)
    const admin = await give('admin')
    expect((await ask(vera)).status).toBe(200)
    await take(admin)
    for (const method of ['GET', 'POST', 'DELETE'])
      expect((await guarded.call(method, to, { headers: vera, body: { content: 'Hi' } })).status).toBe(403)
    await gateway.close()
  })

  it('are callers without a user on the default agent, as far as the operator lets them', async () => {
    const reading = await testApp({ environment: { PUBLIC_ACCESS: 'read' } })
    expect((await reading.call('POST', path, { body: { content: 'Hi' } })).status).toBe(403)
    const chatting = await testApp({ environment: { PUBLIC_ACCESS: 'chat' } })
    expect((await chatting.call('POST', path, { body: { content: 'Hi' } })).status).toBe(200)
    expect((await chatting.call('DELETE', path)).status).toBe(403)
  })
})

describe('a malformed request, whatever it is', () => {
  const bodies = [
    undefined,
    null,
    [],
    'text',
    17,
    {},
    { content: { $gt: '' } },
    { content: ['a'], title: ['a'], model: ['a'] },
    { content: 'a', model: 'x'.repeat(301) },
    { content: 'a', conversationId: "'; drop table messages; --" },
    { title: '', stream: 'maybe' },
    JSON.parse('{"__proto__":{"content":"a"},"constructor":{"prototype":{"title":"a"}}}'),
  ]
  const queries = [
    'limit=abc',
    'limit=0',
    'limit=1001',
    'limit=1e99',
    'offset=-1',
    'before=nothing',
    'after=nothing',
    'before=a&after=b&cursor=',
    'cursor=%7B%7D',
    'cursor=bm90LWEtY3Vyc29y',
    'sort=content%3B%20drop%20table%20messages',
    'sort=sequence',
    'order=upwards',
    'from=yesterday',
    'to=2026-13-45',
    'conversationId=nothing-here',
    'conversationId=a&conversationId=b',
  ]
  const odd = ['%00', '..%2F..', "';--", 'x'.repeat(400), '%F0%9F%98%80', 'undefined']

  it('is answered with 4xx, in the shape of chat, and the service goes on', async () => {
    const requests = [
      ...bodies.flatMap(body => [
        ['POST', path, body],
        ['POST', `${path}/conversations`, body],
        ['POST', `${path}/messages/none/regenerate`, body],
        ['DELETE', `${path}/conversations/none`, body],
        ['DELETE', `${path}/messages/none`, body],
      ]),
      ...queries.map(query => ['GET', `${path}?${query}`]),
      ...odd.flatMap(id => [
        ['DELETE', `${path}/conversations/${id}`],
        ['DELETE', `${path}/messages/${id}`],
        ['DELETE', `${path}?conversationId=${id}`],
        ['POST', `${path}/messages/${id}/regenerate`, {}],
        ['GET', `${path}?conversationId=${id}`],
        ['GET', `${path}?before=${id}`],
      ]),
    ] as [string, string, unknown?][]
    for (const [method, url, body] of requests) {
      const payload = body === undefined ? {} : { payload: JSON.stringify(body) }
      const headers = { 'content-type': 'application/json' }
      const answer = await app.call(method, url, { ...payload, headers })
      const what = `${method} ${url} ${JSON.stringify(body)}`
      expect(answer.status, what).toBeGreaterThanOrEqual(400)
      expect(answer.status, what).toBeLessThan(500)
      expect(answer.body, what).toEqual({ error: expect.any(String), code: expect.any(String) })
    }
    expect((await send({ content: 'Still there?' })).status).toBe(200)
  })
})

describe('what is stored of tool calls', () => {
  it('is told again in the next question, each call with its result', async () => {
    model.next({ stream: openaiToolCall('search_knowledge', { query: 'tides' }) })
    const first = await send({ content: 'Look it up.' })
    const [call] = first.body.assistantMessage.toolCalls ?? []
    expect(call).toEqual({
      id: expect.stringMatching(/^[A-Za-z0-9]{9}$/),
      name: 'search_knowledge',
      arguments: { query: 'tides' },
    })
    await send({ content: 'And now?', conversationId: first.body.userMessage.conversationId })
    expect(model.questions().at(-1)?.messages.slice(1)).toMatchObject([
      { role: 'user' },
      { role: 'assistant', tool_calls: [{ id: call?.id }] },
      { role: 'tool', tool_call_id: call?.id },
      { role: 'assistant', content: usualAnswer },
      { role: 'user', content: 'And now?' },
    ])
  })
})

describe('a question that got no answer', () => {
  it('is told together with the next one, since many models take no two messages of a user in a row', async () => {
    model.next(refusal(401, 'no'))
    expect((await send({ content: 'First?', autoRag: false })).status).toBe(500)
    const [{ id } = { id: '' }] = (
      await app.call<{ conversations: { id: string }[] }>('GET', `${path}/conversations?limit=1`)
    ).body.conversations
    await send({ content: 'Second?', conversationId: id, autoRag: false })
    const told = model.questions().at(-1)?.messages.slice(1)
    expect(told).toEqual([{ role: 'user', content: 'First?\n\nSecond?' }])
  })
})
