/** Callers with the role `chat`, people and keys: what they see of the conversations of an agent, and on what they decide. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { giveRole, makeAgent } from '#test/support/agents.ts'
import { type Answer, buildApp, type TestApp } from '#test/support/build-app.ts'
import { type ChatModel, heldStream, startChatModel } from '#test/support/chat-model.ts'
import type { TurnBody } from '#test/support/chat-stage.ts'
import { eventually } from '#test/support/eventually.ts'
import { followChanges } from '#test/support/follow-changes.ts'
import { type Gateway, startGateway } from '#test/support/gateway.ts'
import { connectMcp, textOf } from '#test/support/mcp-client.ts'
import { openaiText, openaiToolCall } from '#test/support/model-server.ts'
import { openStream } from '#test/support/open-stream.ts'

type Headers = Record<string, string>
type Begun = TurnBody['userMessage'] & { toolCallId: string; answerId: string }

let gateway: Gateway
let model: ChatModel
let app: TestApp
let url: string
let agentId: string
let chat: string
let keyId: string
const callers: Record<string, Headers> = {}
/** By who began them: each with a message, an answer to it, and a call that waits. */
const begun: Record<string, Begun> = {}
/** The callers with the role `chat`, and by what they are known. */
const confined = ['ada', 'bob', 'key', 'personal key'] as const

const call = <Body = unknown>(
  who: string,
  method: string,
  path: string,
  body?: object,
): Promise<Answer<Body>> =>
  app.call<Body>(method, path, { headers: callers[who] ?? {}, ...(body && { body }) })

async function makeKey(path: string, who: string, body: object) {
  const made = await call<{ id: string; key: string }>(who, 'POST', path, { name: 'CI', ...body })
  expect(made.status).toBe(201)
  return { id: made.body.id, headers: { authorization: `Bearer ${made.body.key}` } }
}

/** Has the agent call a tool, which waits for approval. */
async function begin(who: string, tool = 'transfer', given: object = { amount: 7 }): Promise<Begun> {
  model.next({ stream: openaiToolCall(tool, given) }, { stream: openaiText(`It waits, ${who}.`) })
  const { status, body } = await call<TurnBody>(who, 'POST', chat, { content: `I am ${who}`, autoRag: false })
  expect(status).toBe(200)
  const [result] = body.assistantMessage.toolResults ?? []
  expect(result).toMatchObject({ name: tool, approval: 'required' })
  return { ...body.userMessage, toolCallId: result?.toolCallId ?? '', answerId: body.assistantMessage.id }
}

async function beginOnChannel(): Promise<Begun> {
  const at = '2026-11-24T00:00:00.000Z'
  await app.service.infrastructure.agentDatabases.use(agentId, async ({ db }) => {
    const of = { title: 'Hello', channel: 'telegram', message_count: 1, created_at: at, lock_token: 0 }
    await db
      .insertInto('conversations')
      .values({ id: 'telegram', ...of })
      .execute()
    const said = {
      id: 'said',
      conversation_id: 'telegram',
      role: 'user',
      content: 'I am far',
      created_at: at,
    }
    await db.insertInto('messages').values(said).execute()
  })
  return { id: 'said', conversationId: 'telegram', toolCallId: 'none', answerId: 'none' } as Begun
}

beforeAll(async () => {
  gateway = await startGateway()
  model = await startChatModel()
  app = await buildApp({ environment: { ...gateway.environment, ...model.environment } })
  url = await app.listen()
  callers.owner = await gateway.headers('owner@example.com')
  agentId = await makeAgent(app, { headers: callers.owner })
  chat = `/api/agents/${agentId}/chat`
  for (const [who, role] of [
    ['ada', 'chat'],
    ['bob', 'chat'],
    ['eve', 'chat'],
    ['viewer', 'viewer'],
  ] as const) {
    await giveRole(app, agentId, { email: `${who}@example.com`, role, headers: callers.owner })
    callers[who] = await gateway.headers(`${who}@example.com`)
  }
  const key = await makeKey(`/api/agents/${agentId}/keys`, 'owner', { role: 'chat' })
  keyId = key.id
  callers.key = key.headers
  callers['personal key'] = (await makeKey('/api/auth/keys', 'eve', {})).headers
  for (const name of ['transfer', 'ping'])
    await call('owner', 'POST', chat.replace(/chat$/, 'tools'), {
      name,
      type: 'javascript',
      configuration: { code: 'return { sent: args.amount }' },
      requiresApproval: 'always',
      ...(name === 'ping' && { approvers: 'chat' }),
    })
  for (const who of ['owner', ...confined]) begun[who] = await begin(who)
  begun.channel = await beginOnChannel()
})

afterAll(async () => {
  await app.close()
  await model[Symbol.asyncDispose]()
  await gateway.close()
})

const conversationOf = (who: string) => begun[who]?.conversationId ?? ''

describe.each(confined)('the role chat, of %s', who => {
  const others = ['owner', ...confined, 'channel'].filter(one => one !== who)

  const lists = {
    'all conversations': 'conversations?limit=100',
    'a page of conversations': 'conversations?cursor=&sort=created_by',
    'conversations that match': 'conversations?search=I%20am',
    'all messages': '?limit=100',
    'a page of messages': '?cursor=&sort=role',
    'messages that match': '?search=a',
    'messages from a time on': '?from=2026-01-01T00:00:00Z&order=desc',
    approvals: 'approvals',
    'approvals that wait': 'approvals?status=pending&cursor=',
  }
  it.each(Object.entries(lists))('lists as %s those of its own alone', async (_name, path) => {
    const url = path.startsWith('?') ? `${chat}${path}` : `${chat}/${path}`
    interface Row {
      id: string
      conversationId?: string
    }
    const { status, body } = await call<Record<string, Row[]> & { meta: { total: number } }>(who, 'GET', url)
    expect(status).toBe(200)
    const { meta, ...lists } = body
    const [rows = []] = Object.values(lists)
    expect(new Set(rows.map(row => row.conversationId ?? row.id))).toEqual(new Set([conversationOf(who)]))
    expect(meta.total).toBe(rows.length)
    expect(JSON.stringify(rows)).not.toMatch(new RegExp(others.map(one => `I am ${one}"`).join('|')))
  })

  it.each(['telegram', 'whatsapp'])('lists no conversation on %s', async channel => {
    const { body } = await call(who, 'GET', `${chat}/conversations?channel=${channel}`)
    expect(body).toMatchObject({ conversations: [], meta: { total: 0 } })
  })

  it('finds nothing of others by their name', async () => {
    for (const one of [
      'person:owner@example.com',
      'person:bob@example.com&created_by=person:ada@example.com',
    ])
      for (const path of ['', '/conversations']) {
        const { body } = await call<Record<string, object[]>>(who, 'GET', `${chat}${path}?created_by=${one}`)
        const rows = Object.entries(body).flatMap(([name, rows]) => (name === 'meta' ? [] : rows))
        const isOwn = one.includes(`person:${who}@`)
        expect(rows).toHaveLength(isOwn ? (path === '' ? 2 : 1) : 0)
      }
  })

  it('names, rates and exports what it began, and imports nothing', async () => {
    const { conversationId } = begun[who] as Begun
    const title = `That of ${who}`
    expect(await call(who, 'PUT', `${chat}/conversations/${conversationId}`, { title })).toMatchObject({
      status: 200,
      body: { id: conversationId, title },
    })
    const { body: file } = await call(who, 'GET', `${chat}/conversations/${conversationId}/export`)
    expect(file).toMatchObject({ title, messages: [{}, { role: 'assistant' }] })
    const { id } = (file as { messages: { id: string }[] }).messages[1] ?? { id: '' }
    const rated = await call(who, 'PUT', `${chat}/messages/${id}/feedback`, { rating: 1 })
    expect(rated).toMatchObject({ status: 200, body: { feedback: { rating: 1 } } })
    expect((await call(who, 'POST', `${chat}/conversations/import`, file as object)).status).toBe(403)
  })

  it.each(others)('finds nothing that belongs to %s by its id', async other => {
    const { conversationId, id, toolCallId, answerId } = begun[other] as Begun
    const asked: [method: string, path: string, body?: object][] = [
      ['POST', '', { content: 'Go on', conversationId }],
      ['POST', '', { content: 'Go on', conversationId, stream: true }],
      ['POST', `/messages/${id}/regenerate`, {}],
      ['POST', `/messages/${id}/regenerate`, { stream: true }],
      ['GET', `?conversationId=${conversationId}`],
      ['GET', `?conversationId=${conversationId}&search=a`],
      ['GET', `?before=${id}`],
      ['GET', `?after=${id}`],
      ['GET', `?after=${id}&conversationId=${conversationOf(who)}`],
      ['PUT', `/conversations/${conversationId}`, { title: 'Mine' }],
      ['PUT', `/messages/${id}/feedback`, { rating: 1 }],
      ['GET', `/conversations/${conversationId}/export`],
      ['GET', `/conversations/${conversationId}/export?format=md`],
      ['POST', `/approvals/${toolCallId}`, { approved: true }],
      ['POST', `/approvals/${toolCallId}`, { approved: false }],
      ['GET', `/conversations/${conversationId}/turn`],
      ['POST', `/turns/${answerId}/stop`],
      ['GET', `/turns/${answerId}/events`],
    ]
    const before = model.questions().length
    for (const [method, path, body] of asked) {
      const answer = await call(who, method, `${chat}${path}`, body)
      expect([path, answer.status, answer.body]).toMatchObject([path, 404, { code: 'NOT_FOUND' }])
    }
    const listed = await call(who, 'GET', `${chat}/approvals?conversationId=${conversationId}`)
    expect(listed.body).toMatchObject({ approvals: [] })
    for (const path of [
      `/conversations/${conversationId}`,
      `/messages/${id}`,
      `?conversationId=${conversationId}`,
    ])
      expect((await call(who, 'DELETE', `${chat}${path}`)).status).toBe(403)
    expect(model.questions()).toHaveLength(before)
  })

  it('goes on with its own conversation, and answers again in it', async () => {
    const { conversationId, id } = begun[who] as Begun
    const seen = (path: string) => call<{ messages: object[] }>(who, 'GET', `${chat}${path}`)
    expect((await seen(`?conversationId=${conversationId}`)).body.messages).toHaveLength(2)
    expect((await seen(`?after=${id}`)).body.messages).toHaveLength(1)
    const empty = await call<{ id: string }>(who, 'POST', `${chat}/conversations`, { title: 'Empty' })
    expect(empty.status).toBe(201)
    const on = await call<TurnBody>(who, 'POST', chat, { content: 'Go on', conversationId: empty.body.id })
    expect(on.status).toBe(200)
    const again = `${chat}/messages/${on.body.assistantMessage.id}/regenerate`
    expect((await call(who, 'POST', again, {})).status).toBe(200)
    expect((await call('owner', 'POST', again, {})).status).toBe(404)
    expect((await call('owner', 'DELETE', `${chat}/conversations/${empty.body.id}`)).status).toBe(200)
  })

  it('decides on no call, unless its tool says so, and then on those of its own turns', async () => {
    const decide = (by: string, { toolCallId }: Begun) =>
      call<{ success?: boolean }>(by, 'POST', `${chat}/approvals/${toolCallId}`, { approved: true })
    const refused = await decide(who, begun[who] as Begun)
    expect(refused).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
    const [approved, denied] = [await begin(who, 'ping'), await begin(who, 'ping')]
    expect(await decide(who === 'ada' ? 'bob' : 'ada', approved)).toMatchObject({ status: 404 })
    expect(await decide(who, approved)).toMatchObject({ status: 200, body: { success: true } })
    expect(await decide(who, approved)).toMatchObject({ status: 409 })
    const no = { approved: false }
    expect((await call(who, 'POST', `${chat}/approvals/${denied.toolCallId}`, no)).status).toBe(200)
    // In its conversation, but in a turn of another caller.
    model.next({ stream: openaiToolCall('ping', {}) }, { stream: openaiText('It waits.') })
    const { conversationId } = approved
    const body = { content: 'Ping', conversationId, autoRag: false }
    const [of] = (await call<TurnBody>('owner', 'POST', chat, body)).body.assistantMessage.toolResults ?? []
    expect(await decide(who, { toolCallId: of?.toolCallId } as Begun)).toMatchObject({ status: 404 })
    for (const { conversationId } of [approved, denied])
      await call('owner', 'DELETE', `${chat}/conversations/${conversationId}`)
  })
})

it('stops its own turns, and those of others if it is an admin', async () => {
  const begun: Record<string, string>[] = []
  for (const who of ['owner', 'ada'] as const) {
    const held = heldStream(['One'])
    model.next(held.reply)
    const answer = await openStream(`${url}${chat}`, { content: 'Count' }, callers[who])
    begun.push((await answer.until('message_start'))[0] as unknown as Record<string, string>)
    // A turn that is stopped before it asks would leave its answer to the next one.
    await held.begun
  }
  const [ofOwner, ofAda] = begun.map(({ turnId }) => turnId)
  const stop = async (who: string, turnId?: string) =>
    (await call(who, 'POST', `${chat}/turns/${turnId}/stop`)).status
  expect(await stop('ada', ofOwner)).toBe(404)
  expect(await stop('bob', ofAda)).toBe(404)
  expect(await stop('viewer', ofAda)).toBe(403)
  expect(await call('viewer', 'GET', `${chat}/conversations/${begun[1]?.conversationId}/turn`)).toMatchObject(
    {
      body: { turn: { id: ofAda, started_by: 'person:ada@example.com' } },
    },
  )
  expect(await stop('ada', ofAda)).toBe(200)
  expect(await stop('owner', ofOwner)).toBe(200)
  for (const { conversationId } of begun)
    expect((await call('owner', 'DELETE', `${chat}/conversations/${conversationId}`)).status).toBe(200)
})

it('reads its own turns in the background, and no others; a reader who loses the role reads no more', async () => {
  const keys = `/api/agents/${agentId}/keys`
  const { id, headers } = await makeKey(keys, 'owner', { role: 'chat' })
  callers.reader = headers
  const held = heldStream(['One'], [' two'])
  onTestFinished(held.open)
  model.next(held.reply)
  const body = { content: 'Count', background: true, autoRag: false }
  const begun = await call<{ turn: { events: string }; userMessage: { conversationId: string } }>(
    ...(['reader', 'POST', chat, body] as const),
  )
  const { events } = begun.body.turn
  for (const who of ['ada', 'bob', 'personal key'])
    expect(await call(who, 'GET', events)).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } })
  const other = `/api/agents/${await makeAgent(app, { headers: callers.owner ?? {} })}`
  const elsewhere = events.replace(`/api/agents/${agentId}`, other)
  expect(await call('owner', 'GET', elsewhere)).toMatchObject({ status: 404 })
  await call('owner', 'DELETE', other)
  await held.begun
  const response = await fetch(`${url}${events}`, { headers })
  const text = response.text()
  expect((await call('owner', 'DELETE', `${keys}/${id}`)).status).toBe(200)
  expect(await text).toMatch(/"type":"error","message":"[^"]*","code":"(FORBIDDEN|UNAUTHORIZED)"\}\n\n$/)
  held.open()
  const { conversationId } = begun.body.userMessage
  await eventually(async () =>
    expect((await call('owner', 'DELETE', `${chat}/conversations/${conversationId}`)).status).toBe(200),
  )
})

it('no other route on an agent is open to it: a new one needs its cases above', () => {
  const open = app.routes.filter(
    ({ method, url, config }) => config.chat && method !== 'HEAD' && url.startsWith('/api/agents'),
  )
  const paths = open.map(({ method, url }) => `${method} ${url.replace('/api/agents/:id', '')}`)
  expect(paths.filter(path => !path.includes('/mcp/endpoint')).toSorted()).toEqual([
    // The tests of files have their cases.
    'DELETE /chat/files/:fileId',
    'GET /chat',
    'GET /chat/approvals',
    'GET /chat/conversations',
    'GET /chat/conversations/:conversationId/export',
    'GET /chat/conversations/:conversationId/turn',
    'GET /chat/files/:fileId',
    'GET /chat/models',
    'GET /chat/turns/:turnId/events',
    'GET /events',
    'POST /chat',
    'POST /chat/approvals/:toolCallId',
    'POST /chat/conversations',
    'POST /chat/files',
    'POST /chat/messages/:messageId/regenerate',
    'POST /chat/turns/:turnId/stop',
    'PUT /chat/conversations/:conversationId',
    'PUT /chat/messages/:messageId/feedback',
  ])
})

it('a payment is decided on by admins and owners alone', async () => {
  const walletKey = `0x${'11'.repeat(32)}`
  const settings = { x402_wallet_key: walletKey, x402_daily_limit: '1.00', x402_approval: 'always' }
  await call('owner', 'PUT', chat.replace(/chat$/, 'settings'), settings)
  const { toolCallId, conversationId } = await begin('ada', 'x402_fetch', { url: 'https://shop.example/' })
  const answer = await call('ada', 'POST', `${chat}/approvals/${toolCallId}`, { approved: false })
  expect(answer).toMatchObject({ status: 403 })
  await call('owner', 'DELETE', `${chat}/conversations/${conversationId}`)
})

describe('the author of conversations and messages', () => {
  const names = (): Record<string, string | undefined> => ({
    owner: 'person:owner@example.com',
    ada: 'person:ada@example.com',
    key: `key:${keyId}`,
    'personal key': 'person:eve@example.com',
  })

  it('is named to those who see them all, and lists filter by it', async () => {
    for (const [who, created_by] of Object.entries(names())) {
      const url = (path: string) => `${chat}${path}?created_by=${created_by}`
      const { body } = await call('viewer', 'GET', url('/conversations'))
      expect(body).toMatchObject({
        conversations: [{ id: conversationOf(who), created_by }],
        meta: { total: 1 },
      })
      const { body: said } = await call('viewer', 'GET', url(''))
      const own = [
        { role: 'user', content: `I am ${who}`, created_by },
        { role: 'assistant', created_by },
      ]
      expect(said).toMatchObject({ messages: own, meta: { total: 2 } })
    }
    const both = Object.values(names()).slice(0, 2).join('&created_by=')
    const { body } = await call('viewer', 'GET', `${chat}/conversations?created_by=${both}`)
    expect(body).toMatchObject({ meta: { total: 2 } })
  })

  it('is the caller of an MCP session, who finds its conversation here', async () => {
    const client = await connectMcp({ address: url, agentId, headers: callers.key ?? {} })
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['chat'])
    const said = await client.callTool({ name: 'chat', arguments: { message: 'By MCP' } })
    const { conversationId } = said.structuredContent as { conversationId: string }
    for (const who of ['key', 'viewer']) {
      const { body } = await call(who, 'GET', `${chat}/conversations?created_by=mcp:key:${keyId}`)
      expect(body).toMatchObject({ conversations: [{ id: conversationId }] })
    }
    const foreign = { message: 'Go on', conversationId: conversationOf('owner') }
    const refused = await client.callTool({ name: 'chat', arguments: foreign })
    expect([refused.isError, textOf(refused)]).toEqual([true, 'Conversation not found'])
    await expect(client.callTool({ name: 'search_knowledge', arguments: { query: 'a' } })).rejects.toThrow(
      'There is no tool named search_knowledge.',
    )
    await call('owner', 'DELETE', `${chat}/conversations/${conversationId}`)
  })
})

it('the changes that are streamed to it are those of its own conversations', async () => {
  // Changes that tests have made before are on their way for a moment.
  const earlier = await followChanges({ base: url, agentId, headers: callers.owner ?? {} })
  onTestFinished(earlier.close)
  const { body: contact } = await call('owner', 'POST', `/api/agents/${agentId}/contacts`, { name: 'Ben' })
  await earlier.received({ type: 'contacts', id: (contact as { id: string }).id })
  const followed = await followChanges({ base: url, agentId, headers: callers.ada ?? {} })
  onTestFinished(followed.close)
  await followed.received({ type: 'open' })
  await call('owner', 'POST', `/api/agents/${agentId}/contacts`, { name: 'Lena' })
  for (const who of ['owner', 'bob', 'ada'])
    await call(who, 'POST', chat, { content: 'Go on', conversationId: conversationOf(who) })
  await followed.received({ type: 'messages', id: conversationOf('ada') })
  const ids = followed.events().flatMap(({ type, id }) => (type === 'open' ? [] : [id]))
  expect(new Set(ids)).toEqual(new Set([conversationOf('ada')]))
})

it('a stream of a caller who sees less from now on ends', async () => {
  const keys = `/api/agents/${agentId}/keys`
  const { id, headers } = await makeKey(keys, 'owner', { role: 'admin' })
  const held = heldStream(['One'], [' two'])
  onTestFinished(held.open)
  model.next(held.reply)
  const body = { content: 'Count', conversationId: conversationOf('ada') }
  const answer = await openStream(`${url}${chat}`, body, headers)
  await answer.until('content_delta')
  expect((await call('owner', 'PUT', `${keys}/${id}`, { role: 'chat' })).status).toBe(200)
  expect(await answer.rest()).toMatchObject([{ type: 'error', code: 'FORBIDDEN' }])
})

it('GET auth/agents says what the caller may do on each agent', async () => {
  const powerOf = async (who: string) =>
    (await call<{ agents: { role: string; power: string }[] }>(who, 'GET', '/api/auth/agents')).body.agents
  callers.capped = (await makeKey('/api/auth/keys', 'owner', { role: 'chat' })).headers
  callers.nothing = (await makeKey('/api/auth/keys', 'viewer', { role: 'chat' })).headers
  expect(await powerOf('ada')).toMatchObject([{ role: 'chat', power: 'chat' }])
  expect(await powerOf('owner')).toMatchObject([{ role: 'owner', power: 'owner' }])
  expect(await powerOf('capped')).toMatchObject([{ role: 'owner', power: 'chat' }])
  expect(await powerOf('nothing')).toMatchObject([{ role: 'viewer', power: null }])
  expect(await powerOf('nobody')).toMatchObject([{ role: 'admin', power: 'admin' }])
})
