/** How many conversations each author keeps, and whose make room for new ones. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { giveRole, makeAgent } from '#test/support/agents.ts'
import { buildApp, type TestApp } from '#test/support/build-app.ts'
import { type ChatModel, startChatModel } from '#test/support/chat-model.ts'
import type { TurnBody } from '#test/support/chat-stage.ts'
import { type Gateway, startGateway } from '#test/support/gateway.ts'
import { connectMcp } from '#test/support/mcp-client.ts'

interface Begun {
  id: string
  evictedConversationId?: string
}

let gateway: Gateway
let model: ChatModel
let app: TestApp
let agentId: string
const headersOf: Record<string, Record<string, string>> = { nobody: {} }

/** In an agent's keeping: two for each author, seven for all. */
const [perAuthor, ofAll] = [2, 7]

beforeAll(async () => {
  gateway = await startGateway()
  model = await startChatModel()
  const environment = { ...gateway.environment, ...model.environment, CONVERSATIONS_MAX: String(ofAll) }
  app = await buildApp({ environment })
  for (const who of ['owner', 'ada', 'bob', 'eve'])
    headersOf[who] = await gateway.headers(`${who}@example.com`)
  await change('default', { conversations_max: perAuthor })
  headersOf['key of ada'] = await makeKey('/api/auth/keys', 'ada')
})

afterAll(async () => {
  await app.close()
  await model[Symbol.asyncDispose]()
  await gateway.close()
})

function call<Body>(who: string, method: string, path: string, body?: object) {
  return app.call<Body>(method, path, { headers: headersOf[who] ?? {}, ...(body && { body }) })
}

async function makeKey(path: string, who: string, body = {}): Promise<Record<string, string>> {
  const made = await call<{ key: string }>(who, 'POST', path, { name: 'CI', ...body })
  expect(made.status).toBe(201)
  return { authorization: `Bearer ${made.body.key}` }
}

async function change(id: string, settings: object): Promise<void> {
  expect(await call('owner', 'PUT', `/api/agents/${id}/settings`, settings)).toMatchObject({ status: 200 })
}

function begin(who: string, id = agentId, title = who) {
  return call<Begun>(who, 'POST', `/api/agents/${id}/chat/conversations`, { title })
}

async function left(id = agentId): Promise<string[]> {
  const path = `/api/agents/${id}/chat/conversations?limit=100`
  const { body } = await call<{ conversations: Begun[] }>('owner', 'GET', path)
  return body.conversations.map(each => each.id).toSorted()
}

/** On an agent of the owner's, on which all others may chat. */
async function setStage() {
  agentId = await makeAgent(app, { headers: headersOf.owner ?? {} })
  await change(agentId, { conversations_max: perAuthor })
  for (const who of ['ada', 'bob', 'eve'])
    await giveRole(app, agentId, {
      email: `${who}@example.com`,
      role: 'chat',
      headers: headersOf.owner ?? {},
    })
  headersOf.key = await makeKey(`/api/agents/${agentId}/keys`, 'owner', { role: 'chat' })
}

/** How a conversation begins, and the id of that which made room. */
const ways: [way: string, begin: (who: string) => Promise<string | undefined>][] = [
  ['by its title', async who => (await begin(who)).body.evictedConversationId],
  [
    'with a message',
    async who => {
      const { body } = await call<TurnBody & { evictedConversationId?: string }>(
        who,
        'POST',
        `/api/agents/${agentId}/chat`,
        { content: 'Hi', autoRag: false },
      )
      return body.evictedConversationId
    },
  ],
  [
    'with a turn in the background',
    async who => {
      const { body } = await call<{ evictedConversationId?: string }>(
        who,
        'POST',
        `/api/agents/${agentId}/chat`,
        { content: 'Hi', autoRag: false, background: true },
      )
      await app.service.infrastructure.runner.idle()
      return body.evictedConversationId
    },
  ],
]

describe('a conversation beyond those that its author keeps', () => {
  it.each(ways)('takes the place of the author’s oldest: one that begins %s', async (_way, start) => {
    await setStage()
    const others = [await begin('bob'), await begin('key'), await begin('owner')].map(({ body }) => body.id)
    const mine = [(await begin('ada')).body.id, (await begin('ada')).body.id]
    expect(await start('ada')).toBe(mine[0])
    expect(await start('ada')).toBe(mine[1])
    expect(await left()).toEqual(expect.arrayContaining(others))
    expect(await left()).toHaveLength(others.length + perAuthor)
  })

  it('counts those in MCP sessions and by personal keys as the person’s, and an agent’s key as its own', async () => {
    await setStage()
    const address = await app.listen()
    const client = await connectMcp({ address, agentId, headers: headersOf.ada ?? {} })
    await client.callTool({ name: 'chat', arguments: { message: 'Hi' } })
    const [inSession] = await left()
    const byKey = (await begin('key of ada')).body.id
    expect((await begin('key')).body).not.toHaveProperty('evictedConversationId')
    expect((await begin('ada')).body.evictedConversationId).toBe(inSession)
    expect((await begin('ada')).body.evictedConversationId).toBe(byKey)
    await client.callTool({ name: 'chat', arguments: { message: 'Hi' } })
    expect(await left()).toHaveLength(perAuthor + 1)
  })

  it('is of callers without a user together, with those of unknown author', async () => {
    const ada = (await begin('ada', 'default')).body.id
    await onDatabase('default', 'unknown', null)
    const second = (await begin('nobody', 'default')).body.id
    expect((await begin('nobody', 'default')).body.evictedConversationId).toBe('unknown')
    expect((await begin('nobody', 'default')).body.evictedConversationId).toBe(second)
    expect(await left('default')).toEqual(expect.arrayContaining([ada]))
  })

  it('may be any number that the operator allows, and never more than the agent keeps', async () => {
    await setStage()
    for (const wanted of [ofAll + 1, 1001, 0])
      expect(
        await call('owner', 'PUT', `/api/agents/${agentId}/settings`, { conversations_max: wanted }),
      ).toMatchObject({ status: 400, body: { error: { details: { field: 'conversations_max' } } } })
    await change(agentId, { conversations_max: ofAll })
    for (let n = 0; n < ofAll; n += 1) expect((await begin('ada')).status).toBe(201)
    expect((await begin('ada')).body).toHaveProperty('evictedConversationId')
  })
})

describe('an agent that keeps all that it may', () => {
  it('has each author make room among their own, and refuses one who has none', async () => {
    await setStage()
    await change(agentId, { conversations_max: ofAll })
    const mine = [(await begin('ada')).body.id, (await begin('ada')).body.id]
    for (let n = mine.length; n < ofAll; n += 1) await begin('bob')
    expect((await begin('ada')).body.evictedConversationId).toBe(mine[0])
    const refused = await begin('eve')
    expect(refused).toMatchObject({
      status: 409,
      body: {
        code: 'CONFLICT',
        error: expect.stringMatching(/none of yours .* Ask an admin to delete some, or .* CONVERSATIONS_MAX/),
      },
    })
    expect(await left()).toHaveLength(ofAll)
    await call('owner', 'DELETE', `/api/agents/${agentId}/chat/conversations/${mine[1]}`)
    expect((await begin('eve')).status).toBe(201)
  })

  it('refuses an author whose own are all being answered, and takes none of another’s', async () => {
    await setStage()
    const mine = [(await begin('ada')).body.id, (await begin('ada')).body.id]
    await begin('bob')
    await app.service.infrastructure.agentDatabases.use(agentId, ({ db }) =>
      db
        .updateTable('conversations')
        .set({ lock_holder: 'other', lock_expires_at: '2999-01-01T00:00:00.000Z' })
        .where('id', 'in', mine)
        .execute(),
    )
    expect(await begin('ada')).toMatchObject({
      status: 409,
      body: { code: 'CONFLICT', error: expect.stringContaining('All 2 conversations are being processed') },
    })
    expect(await left()).toHaveLength(3)
  })

  it('does not count those on channels', async () => {
    await setStage()
    for (let n = 0; n < ofAll; n += 1) await onDatabase(agentId, `far ${n}`, 'channel:telegram', 'telegram')
    expect((await begin('ada')).body).not.toHaveProperty('evictedConversationId')
  })
})

async function onDatabase(
  id: string,
  conversationId: string,
  created_by: string | null,
  channel: string | null = null,
) {
  const row = { id: conversationId, title: 'Before', message_count: 0, lock_token: 0, channel, created_by }
  await app.service.infrastructure.agentDatabases.use(id, ({ db }) =>
    db
      .insertInto('conversations')
      .values({ ...row, created_at: '2026-01-01T00:00:00.000Z' })
      .execute(),
  )
}
