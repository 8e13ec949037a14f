import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { errorRow, row, streamEvent } from '#test/spec/row.ts'
import { heldStream, refusal, usualAnswer } from '#test/support/chat-model.ts'
import { type ChatStage, type MessageList, setChatStage, type TurnBody } from '#test/support/chat-stage.ts'
import { eventually } from '#test/support/eventually.ts'
import { openaiText, openaiToolCall, type Reply, startModelServer } from '#test/support/model-server.ts'
import { type OpenStream, openStream, type SentEvent } from '#test/support/open-stream.ts'
import { removeAtOnce } from '#test/support/remove-at-once.ts'

let stage: ChatStage
let app: ChatStage['app']
let model: ChatStage['model']
let url: string

beforeAll(async () => {
  stage = await setChatStage({ environment: { OUTBOUND_ALLOW: '127.0.0.1' } })
  ;({ app, model } = stage)
  url = await app.listen()
})

afterAll(() => stage[Symbol.asyncDispose]())

function stream(path: string, body: object): Promise<OpenStream> {
  return openStream(`${url}${path}`, { content: 'Hello', ...body })
}

const typesOf = (events: SentEvent[]) => events.map(({ type }) => type)

describe(`a streamed answer ${row('POST /api/agents/{id}/chat')}`, () => {
  it('has the exact form of the wire, and the headers of every answer', async () => {
    const path = '/api/agents/default/chat'
    model.next({ stream: openaiText('It', ' is\n"40".') })
    const answer = await openStream(`${url}${path}`, { content: 'Hi' }, { origin: 'https://app.example' })
    await answer.rest()
    expect(answer.status).toBe(200)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'access-control-allow-origin': '*',
      'x-content-type-options': 'nosniff',
      'x-request-id': expect.any(String),
    })
    expect(answer.headers.has('access-control-allow-credentials')).toBe(false)
    const [asked, given] = await stage.messages(path)
    const lines = [
      `{"type":"message_start","userMessageId":"${asked?.id}","conversationId":"${asked?.conversationId}","model":"fake-model","turnId":"${given?.id}"}`,
      '{"type":"thinking","iteration":1}',
      '{"type":"content_delta","delta":"It","index":0}',
      String.raw`{"type":"content_delta","delta":" is\n\"40\".","index":1}`,
      `{"type":"message_complete","assistantMessageId":"${given?.id}","toolCalls":null,"toolResults":null}`,
    ]
    expect(answer.received()).toBe(lines.map(line => `event: message\ndata: ${line}\n\n`).join(''))
  })

  it(`begins before the model has said anything ${streamEvent('message_start')} ${streamEvent('thinking')}`, async () => {
    const path = await stage.makeChat()
    const held = heldStream([], ['Done'])
    model.next(held.reply)
    const answer = await stream(path, {})
    const [start, thinking] = await answer.until('thinking')
    const [asked] = await stage.messages(path)
    expect(start).toMatchObject({ userMessageId: asked?.id, model: 'fake-model' })
    expect(thinking).toEqual({ type: 'thinking', iteration: 1 })
    held.open()
    expect(typesOf(await answer.rest())).toEqual(['content_delta', 'message_complete'])
  })

  it(`brings each piece as it comes, counted from 0 ${streamEvent('content_delta')}`, async () => {
    const path = await stage.makeChat()
    const held = heldStream(['One', ' two'], [' three'])
    model.next(held.reply)
    const answer = await stream(path, {})
    await answer.until('thinking')
    expect([await answer.until('content_delta'), await answer.until('content_delta')].flat()).toEqual([
      { type: 'content_delta', delta: 'One', index: 0 },
      { type: 'content_delta', delta: ' two', index: 1 },
    ])
    held.open()
    expect((await answer.rest())[0]).toEqual({ type: 'content_delta', delta: ' three', index: 2 })
  })

  it(`tells of tools in between ${streamEvent('tool_call')} ${streamEvent('tool_result')} ${streamEvent('message_complete')}`, async () => {
    const path = await stage.makeChat()
    model.next(
      { stream: openaiToolCall('search_knowledge', { query: 'x'.repeat(50) }) },
      { stream: openaiToolCall('browse_url', { url: 'http://10.0.0.1/' }) },
      { stream: openaiText('There is nothing.') },
    )
    const events = await (await stream(path, {})).rest()
    const [, given] = await stage.messages(path)
    const id = expect.stringMatching(/^[A-Za-z0-9]{9}$/)
    expect(events.slice(1)).toEqual([
      { type: 'thinking', iteration: 1 },
      { type: 'tool_call', id, name: 'search_knowledge', arguments: { query: 'x'.repeat(50) } },
      {
        type: 'tool_result',
        toolCallId: events[2]?.id,
        name: 'search_knowledge',
        success: true,
        result: { results: [] },
        resultPreview: '{"results":[]}',
      },
      { type: 'thinking', iteration: 2 },
      { type: 'tool_call', id, name: 'browse_url', arguments: { url: 'http://10.0.0.1/' } },
      {
        type: 'tool_result',
        toolCallId: events[5]?.id,
        name: 'browse_url',
        success: false,
        error: expect.any(String),
      },
      { type: 'thinking', iteration: 3 },
      { type: 'content_delta', delta: 'There is nothing.', index: 0 },
      {
        type: 'message_complete',
        assistantMessageId: given?.id,
        toolCalls: given?.toolCalls,
        toolResults: given?.toolResults,
      },
    ])
    expect(given?.toolCalls).toHaveLength(2)
  })

  it('says the same as the answer in one piece', async () => {
    const path = await stage.makeChat()
    const replies: Reply[] = [
      { stream: openaiToolCall('search_knowledge', { query: 'a' }) },
      { stream: openaiText('So', ' it is.') },
    ]
    model.next(...replies, ...replies)
    const { body } = await stage.send(path, { content: 'Hello' })
    const events = await (await stream(path, {})).rest()
    const said = events.flatMap(({ type, delta }) => (type === 'content_delta' ? [delta] : [])).join('')
    expect(said).toBe(body.assistantMessage.content)
    const withoutIds = (value: unknown) => JSON.stringify(value).replace(/"(id|toolCallId)":"\w{9}"/g, '')
    expect(withoutIds(events.at(-1)?.toolCalls)).toBe(withoutIds(body.assistantMessage.toolCalls))
    expect(withoutIds(events.at(-1)?.toolResults)).toBe(withoutIds(body.assistantMessage.toolResults))
  })

  it(`may be an answer anew ${row('POST /api/agents/{id}/chat/messages/{messageId}/regenerate')}`, async () => {
    const path = await stage.makeChat()
    const { body } = await stage.send(path, { content: 'Hello' })
    model.next({ stream: openaiText('Another') })
    const { id } = body.assistantMessage
    const events = await (await stream(`${path}/messages/${id}/regenerate`, {})).rest()
    expect(typesOf(events)).toEqual(['message_start', 'thinking', 'content_delta', 'message_complete'])
    expect(events[0]?.userMessageId).toBe(body.userMessage.id)
    expect((await stage.messages(path)).map(({ content }) => content)).toEqual(['Hello', 'Another'])
  })
})

describe('an answer that fails', () => {
  const secret = 'Traceback: /srv/llm/secret.py, key sk-123'

  it.each<[what: string, replies: Reply[], code: string, types: string[]]>([
    ['at once', [refusal(401, secret)], 'MODEL_ERROR', []],
    ['for want of the model', [refusal(404, secret, 'model_not_found')], 'MODEL_UNKNOWN', []],
    [
      'in the middle',
      [{ stream: openaiText('Half').slice(0, 1), cut: true }],
      'MODEL_ERROR',
      ['content_delta'],
    ],
    [
      'after a tool',
      [{ stream: openaiToolCall('search_knowledge', { query: 'a' }) }, refusal(401, secret)],
      'MODEL_ERROR',
      ['tool_call', 'tool_result', 'thinking'],
    ],
  ])(
    `%s ends with an error, and nothing after it ${streamEvent('error')} ${errorRow('chat', 500)}`,
    async (_what, replies, code, types) => {
      const path = await stage.makeChat()
      model.next(...replies)
      const answer = await stream(path, {})
      const events = await answer.rest()
      expect(typesOf(events)).toEqual(['message_start', 'thinking', ...types, 'error'])
      expect(events.at(-1)).toEqual({ type: 'error', message: expect.any(String), code })
      expect(answer.received()).not.toMatch(/Traceback|sk-123/)
      const conversationId = events[0]?.conversationId
      expect((await stage.send(path, { content: 'Again', conversationId })).status).toBe(200)
    },
  )

  it.each<[what: string, body: object, status: number, code: string]>([
    ['a wrong body', { content: '' }, 400, 'VALIDATION_ERROR'],
    ['an impossible model', { model: 'builtin/other' }, 400, 'MODEL_UNKNOWN'],
    ['no such conversation', { conversationId: 'nothing-here' }, 404, 'NOT_FOUND'],
  ])('before it begins is answered in JSON, with a status: %s', async (_what, body, status, code) => {
    const answer = await fetch(`${url}${await stage.makeChat()}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ content: 'Hello', stream: true, ...body }),
    })
    expect(answer.status).toBe(status)
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(await answer.json()).toEqual({ error: expect.any(String), code })
  })

  it('because it can’t be stored ends with an error as well, and the service goes on', async () => {
    const path = await stage.makeChat()
    const held = heldStream(['Well'])
    model.next(held.reply)
    const answer = await stream(path, {})
    await answer.until('content_delta')
    const { agentDatabases } = app.service.infrastructure
    await agentDatabases.use(path.split('/')[3] ?? '', async ({ db }) => {
      for (const table of ['tool_approvals', 'messages']) await db.schema.dropTable(table).execute()
    })
    held.open()
    const events = await answer.rest()
    expect(events).toEqual([{ type: 'error', message: expect.any(String), code: 'INTERNAL_ERROR' }])
    expect(answer.received()).not.toContain('no such table')
    expect((await stage.send(await stage.makeChat(), { content: 'Hello' })).status).toBe(200)
  })

  it('because another request has taken the conversation over stores nothing of it', async () => {
    const path = await stage.makeChat()
    const held = heldStream(['Well'])
    model.next(held.reply)
    const answer = await stream(path, {})
    await answer.until('content_delta')
    const { agentDatabases } = app.service.infrastructure
    await agentDatabases.use(path.split('/')[3] ?? '', ({ db }) =>
      db.updateTable('conversations').set({ lock_token: 99, lock_holder: 'somebody' }).execute(),
    )
    expect(await answer.rest()).toEqual([{ type: 'error', message: expect.any(String), code: 'CONFLICT' }])
    await held.ended
    const stored = (await stage.messages(path)).filter(({ role }) => role === 'assistant')
    expect(stored.filter(({ metadata }) => metadata?.aborted !== true)).toEqual([])
  })

  it('because its agent is deleted ends with an error, and the deletion need not wait', async () => {
    const path = await stage.makeChat()
    const held = heldStream(['Well'])
    model.next(held.reply)
    const answer = await stream(path, {})
    await answer.until('content_delta')
    await removeAtOnce(app, path.split('/')[3] ?? '')
    expect(await answer.rest()).toEqual([{ type: 'error', message: 'Agent not found', code: 'NOT_FOUND' }])
    await held.ended
  })
})

describe('a client that goes away', () => {
  it('ends the model’s work; what was said is kept, marked as aborted, and the conversation is free', async () => {
    const path = await stage.makeChat()
    const held = heldStream(['Half an', ' answer'])
    model.next(held.reply)
    const answer = await stream(path, {})
    const [start] = await answer.until('message_start')
    await answer.until('content_delta')
    await answer.until('content_delta')
    answer.close()
    await held.ended
    await eventually(async () =>
      expect((await stage.messages(path))[1]).toMatchObject({
        role: 'assistant',
        content: 'Half an answer',
        metadata: { model: 'fake-model', aborted: true },
      }),
    )
    await eventually(async () =>
      expect(
        (await stage.send(path, { content: 'Go on', conversationId: start?.conversationId })).status,
      ).toBe(200),
    )
    expect(model.questions().at(-1)?.messages.slice(1)).toEqual([
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: 'Half an answer' },
      { role: 'user', content: 'Go on' },
    ])
  })

  it('before anything was said leaves the question alone', async () => {
    const path = await stage.makeChat()
    const held = heldStream([])
    model.next(held.reply)
    const answer = await stream(path, {})
    const [start] = await answer.until('thinking')
    await held.begun
    answer.close()
    await held.ended
    await eventually(async () =>
      expect(
        (await app.call('DELETE', `${path}?conversationId=${start?.conversationId}`)).body,
      ).toMatchObject({ deleted: 1 }),
    )
  })

  it('does the same while it waits for the answer in one piece', async () => {
    const path = await stage.makeChat()
    const held = heldStream(['Half'])
    model.next(held.reply)
    const connection = new AbortController()
    const sent = fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ content: 'Hello' }),
      signal: connection.signal,
    })
    await held.begun
    // What the model has sent has been read when it is stored.
    await eventually(async () => expect(await stage.messages(path)).toHaveLength(2))
    connection.abort()
    await expect(sent).rejects.toThrow()
    await held.ended
    const [asked] = await stage.messages(path)
    await eventually(async () => expect((await regenerate(path, asked?.id ?? '')).status).toBe(200))
  })

  it('while its question is being accepted is noticed: the model is not asked', async () => {
    await using other = await setChatStage()
    const listed = Promise.withResolvers<Reply>()
    const asked = Promise.withResolvers<void>()
    other.model.list(() => {
      asked.resolve()
      return listed.promise
    })
    const connection = new AbortController()
    const path = '/api/agents/default/chat'
    const sent = fetch(`${await other.app.listen()}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ content: 'Hello', stream: true }),
      signal: connection.signal,
    })
    await asked.promise
    connection.abort()
    await expect(sent).rejects.toThrow()
    await eventually(async () => expect(await openConnections(other)).toBe(0))
    listed.resolve({ json: { data: [{ id: 'fake-model' }] } })
    await eventually(async () => expect(await other.messages(path)).toHaveLength(1))
    await eventually(async () => expect((await other.app.call('DELETE', path)).status).toBe(200))
    expect(other.model.questions()).toEqual([])
  })

  it('while a tool runs ends the tool; its call stays without a result, and later prompts without the call', async () => {
    const reached = Promise.withResolvers<void>()
    await using site = await startModelServer(() => {
      reached.resolve()
      return new Promise<Reply>(() => {})
    })
    const path = await stage.makeChat()
    model.next({ stream: openaiToolCall('browse_url', { url: site.url }) })
    const answer = await stream(path, {})
    const [start] = await answer.until('tool_call')
    await reached.promise
    answer.close()
    await eventually(async () =>
      expect((await stage.messages(path))[1]).toMatchObject({
        content: '',
        toolCalls: [{ name: 'browse_url' }],
        toolResults: [],
        metadata: { aborted: true },
      }),
    )
    await eventually(async () =>
      expect(
        (await stage.send(path, { content: 'Go on', conversationId: start?.conversationId })).status,
      ).toBe(200),
    )
    const told = model.questions().at(-1)?.messages.slice(1)
    expect(told).toEqual([{ role: 'user', content: 'Hello\n\nGo on' }])
  })

  function regenerate(path: string, id: string) {
    return app.call<TurnBody>('POST', `${path}/messages/${id}/regenerate`, { body: {} })
  }

  function openConnections(on: ChatStage): Promise<number> {
    return new Promise((resolve, reject) =>
      on.app.service.app.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
    )
  }
})

describe('while an answer is streamed', () => {
  it('it is stored as it comes to be, marked as unfinished until it is whole', async () => {
    const path = await stage.makeChat()
    const held = heldStream(['One'], [' two'])
    model.next(held.reply)
    const answer = await stream(path, {})
    await answer.until('content_delta')
    await eventually(async () =>
      expect((await stage.messages(path))[1]).toMatchObject({
        content: 'One',
        metadata: { aborted: true, tainted: true },
      }),
    )
    held.open()
    const events = await answer.rest()
    const [, given] = await stage.messages(path)
    expect(given).toMatchObject({ id: events.at(-1)?.assistantMessageId, content: 'One two' })
    expect(given?.metadata).not.toHaveProperty('aborted')
  })

  it(`every change of its conversation is 409, and every reading goes on ${errorRow('chat', 409)}`, async () => {
    const path = await stage.makeChat()
    const { body } = await stage.send(path, { content: 'Hello' })
    const { id, conversationId } = body.userMessage
    const held = heldStream(['Well'])
    model.next(held.reply)
    const answer = await stream(path, { conversationId })
    await answer.until('content_delta')
    const changes: [method: string, path: string, body?: object][] = [
      ['POST', path, { content: 'Hi', conversationId }],
      ['POST', path, { content: 'Hi', conversationId, stream: true }],
      ['POST', `${path}/messages/${id}/regenerate`, {}],
      ['DELETE', `${path}/messages/${id}`],
      ['DELETE', `${path}/conversations/${conversationId}`],
      ['DELETE', `${path}?conversationId=${conversationId}`],
      ['DELETE', path],
    ]
    for (const [method, to, content] of changes)
      expect(await app.call(method, to, { body: content }), `${method} ${to}`).toMatchObject({
        status: 409,
        headers: { 'content-type': 'application/json; charset=utf-8' },
        body: { error: expect.stringContaining('being processed'), code: 'CONVERSATION_LOCKED' },
      })
    for (const to of [path, `${path}?conversationId=${conversationId}`, `${path}/conversations`])
      expect((await app.call('GET', to)).status).toBe(200)
    // Other conversations of the agent are free.
    expect((await stage.send(path, { content: 'Elsewhere' })).status).toBe(200)
    held.open()
    expect((await answer.rest()).at(-1)?.type).toBe('message_complete')
    expect((await stage.messages(path, conversationId)).map(({ content }) => content)).toEqual([
      'Hello',
      usualAnswer,
      'Hello',
      'Well',
    ])
    expect((await app.call('DELETE', path)).body).toEqual({ success: true, deleted: 6 })
  })

  it('its failing to be stored frees its conversation', async () => {
    const path = await stage.makeChat()
    const agent = await app.service.infrastructure.agentDatabases.acquire(path.split('/')[3] ?? '')
    // No conversation may have a second message.
    await agent.db.schema.createIndex('single').on('messages').column('conversation_id').unique().execute()
    const answer = await stream(path, {})
    const events = await answer.rest()
    expect(events.at(-1)).toMatchObject({ type: 'error', code: 'INTERNAL_ERROR' })
    await agent.db.schema.dropIndex('single').execute()
    agent.release()
    const [{ conversationId } = {}] = await stage.messages(path)
    expect((await stage.send(path, { content: 'Again', conversationId })).status).toBe(200)
  })

  it('pausing its agent lets it finish, and takes no more', async () => {
    const path = await stage.makeChat()
    const held = heldStream(['Well'])
    model.next(held.reply)
    const answer = await stream(path, {})
    await answer.until('content_delta')
    await app.call('PUT', path.replace('/chat', ''), { body: { status: 'paused' } })
    expect(await stage.send(path, { content: 'Hi' })).toMatchObject({
      status: 409,
      body: { code: 'CONFLICT' },
    })
    held.open()
    expect((await answer.rest()).at(-1)?.type).toBe('message_complete')
  })

  it('of 200 messages at once to one conversation one is answered, and 199 are 409', async () => {
    const path = await stage.makeChat()
    const { body } = await app.call<{ id: string }>('POST', `${path}/conversations`, {
      body: { title: 'One' },
    })
    const held = heldStream(['Well'])
    model.next(held.reply)
    const asked = model.questions().length
    const sent = Array.from({ length: 200 }, (_, index) =>
      fetch(`${url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ content: `message ${index}`, conversationId: body.id }),
      }).then(async response => ({ status: response.status, body: (await response.json()) as TurnBody })),
    )
    const refused: number[] = []
    const allRefused = Promise.withResolvers<void>()
    for (const one of sent)
      void one.then(({ status }) => {
        if (status === 409 && refused.push(status) === 199) allRefused.resolve()
      })
    await allRefused.promise
    held.open()
    const answers = await Promise.all(sent)
    const winners = answers.filter(({ status }) => status === 200)
    expect(winners).toHaveLength(1)
    expect(model.questions()).toHaveLength(asked + 1)
    const { messages, meta } = (await app.call<MessageList>('GET', path)).body
    expect(meta.total).toBe(2)
    expect(messages).toEqual([winners[0]?.body.userMessage, winners[0]?.body.assistantMessage])
  })
})
