import type { Kysely } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AgentTables } from '#storage/tables.ts'
import { errorRow, limitRow, row } from '#test/spec/row.ts'
import { heldStream } from '#test/support/chat-model.ts'
import { type ChatStage, setChatStage } from '#test/support/chat-stage.ts'
import { manualClock } from '#test/support/manual-clock.ts'
import { openaiText } from '#test/support/model-server.ts'
import type { Conversation } from './chat.schema.ts'

interface ConversationList {
  conversations: Conversation[]
  meta: { total: number; next_cursor?: string | null; has_more?: boolean }
}

const clock = manualClock()

let stage: ChatStage
let app: ChatStage['app']

beforeAll(async () => {
  stage = await setChatStage({ clock })
  app = stage.app
})

afterAll(() => stage[Symbol.asyncDispose]())

/** Some time later than all before. */
async function create(path: string, title: string): Promise<string> {
  clock.advance(1000)
  const { status, body } = await app.call<Conversation>('POST', `${path}/conversations`, { body: { title } })
  expect(status).toBe(201)
  return body.id
}

async function send(path: string, conversationId?: string): Promise<string> {
  clock.advance(1000)
  const { status, body } = await stage.send(path, { content: 'Hello', conversationId })
  expect(status).toBe(200)
  return body.userMessage.conversationId
}

async function list(path: string, query = ''): Promise<ConversationList> {
  return (await app.call<ConversationList>('GET', `${path}/conversations${query}`)).body
}

const idsOf = ({ conversations }: ConversationList) => conversations.map(({ id }) => id)

/** Sends a message whose answer is held until the returned function is called. */
async function lock(path: string, conversationId: string): Promise<() => Promise<void>> {
  const held = heldStream(['Well'])
  stage.model.next(held.reply)
  const sent = stage.send(path, { content: 'Hold on', conversationId })
  await held.begun
  return async () => {
    held.open()
    expect((await sent).status).toBe(200)
  }
}

describe(`beginning a conversation ${row('POST /api/agents/{id}/chat/conversations')}`, () => {
  it('answers with the empty conversation, which has no last message', async () => {
    const path = await stage.makeChat()
    const { status, body } = await app.call('POST', `${path}/conversations`, { body: { title: 'Tides' } })
    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.any(String),
      title: 'Tides',
      messageCount: 0,
      createdAt: new Date(clock.now()).toISOString(),
      created_by: 'person:dev@example.com',
    })
  })

  it.each([undefined, '', '  ', 7, 'x'.repeat(201), 'a\u0000b'])('refuses the title %j', async title => {
    const path = await stage.makeChat()
    const { status, body } = await app.call('POST', `${path}/conversations`, { body: { title } })
    expect(status).toBe(400)
    expect(body).toEqual({ error: expect.stringContaining('title'), code: 'VALIDATION_ERROR' })
  })
})

describe('searching conversations', () => {
  it('looks into titles and into messages, in any letter case, and counts each conversation once', async () => {
    const path = await stage.makeChat()
    const titled = await create(path, 'Über ÖL')
    const said = await send(path)
    stage.model.next({ stream: openaiText('100% öl, öl and ÖL_x') })
    const answered = await send(path)
    const found = async (search: string, more = '') =>
      idsOf(await list(path, `?search=${encodeURIComponent(search)}${more}`))
    expect(await found('öl')).toEqual([answered, titled])
    expect(await found('HELLO')).toEqual([answered, said])
    expect(await found('0% ö')).toEqual([answered])
    for (const none of ['l_and', '100%öl', 'user', 'tides']) expect(await found(none)).toEqual([])
    const page = await list(path, '?search=hello&limit=1&cursor=')
    expect([page.meta.total, idsOf(page)]).toEqual([2, [answered]])
    expect(await found('hello', `&limit=1&cursor=${page.meta.next_cursor}`)).toEqual([said])
    expect(await found('öl', '&created_by=channel:telegram')).toEqual([])
  })
})

describe(`listing conversations ${row('GET /api/agents/{id}/chat/conversations')}`, () => {
  it('puts the latest activity first, and those without any last', async () => {
    const path = await stage.makeChat()
    const [empty, first, second] = [await create(path, 'a'), await create(path, 'b'), await create(path, 'c')]
    await send(path, first)
    await send(path, second)
    await send(path, first)
    const { conversations, meta } = await list(path)
    const author = 'person:dev@example.com'
    expect(conversations).toEqual([
      {
        id: first,
        title: 'b',
        messageCount: 4,
        lastMessageAt: new Date(clock.now()).toISOString(),
        createdAt: expect.any(String),
        created_by: author,
      },
      {
        id: second,
        title: 'c',
        messageCount: 2,
        lastMessageAt: expect.any(String),
        createdAt: expect.any(String),
        created_by: author,
      },
      { id: empty, title: 'a', messageCount: 0, createdAt: expect.any(String), created_by: author },
    ])
    expect(meta).toEqual({ total: 3, limit: 50, offset: 0, has_more: false })
  })

  it('puts the newest first of those without any, on pages, too', async () => {
    const path = await stage.makeChat()
    const oldest: string[] = []
    for (const title of ['a', 'b', 'c', 'd', 'e', 'f']) oldest.push(await create(path, title))
    const newest = oldest.toReversed()
    expect(idsOf(await list(path))).toEqual(newest)
    const first = await list(path, '?limit=4&cursor=')
    const rest = await list(path, `?limit=4&cursor=${first.meta.next_cursor}`)
    expect([...idsOf(first), ...idsOf(rest)]).toEqual(newest)
  })

  it('sorts, searches, bounds and pages as every list does', async () => {
    const path = await stage.makeChat()
    const [b, c, a] = [
      await create(path, 'b dune'),
      await create(path, 'c Dune'),
      await create(path, 'a tide'),
    ]
    expect(idsOf(await list(path, '?sort=title'))).toEqual([a, b, c])
    expect(idsOf(await list(path, '?sort=messageCount,title&order=desc,desc'))).toEqual([c, b, a])
    expect(idsOf(await list(path, '?search=DUNE&sort=title'))).toEqual([b, c])
    expect(idsOf(await list(path, '?limit=1&offset=1&sort=title'))).toEqual([b])
    expect(idsOf(await list(path, '?from=2999-01-01'))).toEqual([])
    const first = await list(path, '?limit=2&sort=title&cursor=')
    expect(idsOf(first)).toEqual([a, b])
    const next = await list(path, `?limit=2&sort=title&cursor=${first.meta.next_cursor}`)
    expect(idsOf(next)).toEqual([c])
    expect(next.meta).toMatchObject({ next_cursor: null, has_more: false })
    expect((await app.call('GET', `${path}/conversations?sort=lock_token`)).status).toBe(400)
  })
})

describe(`deleting a conversation ${row('DELETE /api/agents/{id}/chat/conversations/{conversationId}')}`, () => {
  it('removes it with its messages, and no others', async () => {
    const path = await stage.makeChat()
    const [gone, left] = [await send(path), await send(path)]
    await send(path, gone)
    const { status, body } = await app.call('DELETE', `${path}/conversations/${gone}`)
    expect(status).toBe(200)
    expect(body).toEqual({ success: true, deleted: 4 })
    expect(idsOf(await list(path))).toEqual([left])
    expect(await stage.messages(path)).toHaveLength(2)
    expect((await app.call('GET', `${path}?conversationId=${gone}`)).status).toBe(404)
  })

  it('of another agent, or a second time, is 404', async () => {
    const [path, other] = [await stage.makeChat(), await stage.makeChat()]
    const id = await create(path, 'Mine')
    expect(await app.call('DELETE', `${other}/conversations/${id}`)).toMatchObject({
      status: 404,
      body: { error: 'Conversation not found', code: 'NOT_FOUND' },
    })
    expect((await app.call('DELETE', `${path}/conversations/${id}`)).status).toBe(200)
    expect((await app.call('DELETE', `${path}/conversations/${id}`)).status).toBe(404)
  })

  it(`that is being answered is 409 ${errorRow('chat', 409)}`, async () => {
    const path = await stage.makeChat()
    const id = await create(path, 'Busy')
    const unlock = await lock(path, id)
    expect(await app.call('DELETE', `${path}/conversations/${id}`)).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining('being processed'), code: 'CONVERSATION_LOCKED' },
    })
    await unlock()
    expect((await app.call('DELETE', `${path}/conversations/${id}`)).body).toMatchObject({ deleted: 2 })
  })
})

describe('a conversation that makes room', () => {
  it('is named by the answer and by the event; the setting of the agent counts', async () => {
    const path = await stage.makeChat()
    const settings = path.replace(/chat$/, 'settings')
    expect((await app.call('PUT', settings, { body: { conversations_max: 2 } })).status).toBe(200)
    const [first, second] = [await create(path, 'first'), await create(path, 'second')]
    const third = await app.call<{ id: string }>('POST', `${path}/conversations`, {
      body: { title: 'third' },
    })
    expect(third).toMatchObject({ status: 201, body: { evictedConversationId: first } })
    stage.model.next({ stream: openaiText('Hello') }, { stream: openaiText('Hello') })
    const sent = await stage.send(path, { content: 'Hi' })
    expect(sent.body).toMatchObject({ evictedConversationId: second })
    const streamed = await app.call('POST', path, { body: { content: 'Hi', stream: true } })
    expect(String(streamed.body)).toContain(`"evictedConversationId":"${third.body.id}"`)
    expect(
      (await stage.send(path, { content: 'Hi', conversationId: sent.body.userMessage.conversationId })).body,
    ).not.toHaveProperty('evictedConversationId')
  })

  it.each([1001, 10_001, 0, 1.5])('is none of a number that can’t be: conversations_max %d', async wanted => {
    const settings = (await stage.makeChat()).replace(/chat$/, 'settings')
    const body = { conversations_max: wanted }
    expect(await app.call('PUT', settings, { body })).toMatchObject({
      status: 400,
      body: { error: { details: { field: 'conversations_max' } } },
    })
  })
})

describe(`an agent holds 50 conversations ${limitRow('conversations')}`, () => {
  async function makeFull(path: string): Promise<string[]> {
    const ids: string[] = []
    for (let n = 1; n <= 50; n += 1) ids.push(await create(path, `number ${n}`))
    return ids
  }

  it('so that a 51st takes the place of the one with the oldest activity', async () => {
    const path = await stage.makeChat()
    const [first = '', second = '', third = '', ...others] = await makeFull(path)
    // The oldest has become the one with the latest message.
    await send(path, first)
    const added = await create(path, 'one more')
    const left = idsOf(await list(path))
    expect(left).toHaveLength(50)
    expect(left.toSorted()).toEqual([first, third, ...others, added].toSorted())
    // A message without a conversation begins one as well.
    const begun = await send(path)
    expect(idsOf(await list(path)).toSorted()).toEqual([first, ...others, added, begun].toSorted())
    expect((await stage.send(path, { content: 'Hi', conversationId: second })).status).toBe(404)
  })

  it('and never takes the place of one that is being answered', async () => {
    const path = await stage.makeChat()
    const [oldest = '', second = ''] = await makeFull(path)
    const unlock = await lock(path, oldest)
    // Its message has made it the one with the latest activity: it shall be the oldest none the less.
    await onDatabase(path, db =>
      db.updateTable('conversations').set({ last_message_at: null }).where('id', '=', oldest).execute(),
    )
    await create(path, 'one more')
    const left = idsOf(await list(path))
    expect(left).toContain(oldest)
    expect(left).not.toContain(second)
    await unlock()
  })

  it(`and takes no more while all of them are being answered ${errorRow('chat', 409)}`, async () => {
    const path = await stage.makeChat()
    await makeFull(path)
    await onDatabase(path, db =>
      db
        .updateTable('conversations')
        .set({ lock_holder: 'somebody', lock_expires_at: new Date(clock.now() + 30_000).toISOString() })
        .execute(),
    )
    const refused = { status: 409, body: { error: expect.stringContaining('All 50'), code: 'CONFLICT' } }
    expect(await app.call('POST', `${path}/conversations`, { body: { title: 'x' } })).toMatchObject(refused)
    expect(await stage.send(path, { content: 'Hi' })).toMatchObject(refused)
    expect((await list(path)).meta.total).toBe(50)
    // What nobody renews is free again.
    clock.advance(30_001)
    await create(path, 'one more')
  })

  function onDatabase(path: string, work: (db: Kysely<AgentTables>) => Promise<unknown>) {
    const agentId = path.split('/')[3] ?? ''
    return app.service.infrastructure.agentDatabases.use(agentId, agent => work(agent.db))
  }
})
