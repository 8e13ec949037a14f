import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { errorRow, limitRow, row } from '#test/spec/row.ts'
import { heldStream } from '#test/support/chat-model.ts'
import { type ChatStage, type MessageList, setChatStage } from '#test/support/chat-stage.ts'
import { png } from '#test/support/images.ts'
import { formOf } from '#test/support/upload.ts'
import { insertMessage } from './rows/messages.repository.ts'

let stage: ChatStage
let app: ChatStage['app']

beforeAll(async () => {
  stage = await setChatStage()
  app = stage.app
})

afterAll(() => stage[Symbol.asyncDispose]())

/** Sends messages one after the other; the conversation that they made. */
async function talk(path: string, contents: readonly string[], conversationId?: string): Promise<string> {
  let id = conversationId
  for (const content of contents) {
    const { body } = await stage.send(path, { content, conversationId: id })
    id = body.userMessage.conversationId
  }
  return id ?? ''
}

async function read(path: string, query = ''): Promise<MessageList> {
  const { status, body } = await app.call<MessageList>('GET', `${path}${query}`)
  expect(status).toBe(200)
  return body
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => `question ${index + 1}`)

/** The questions among the messages, as their numbers. */
const questionsOf = ({ messages }: MessageList) =>
  messages.filter(({ role }) => role === 'user').map(({ content }) => Number(content.split(' ')[1]))

const idsOf = ({ messages }: MessageList) => messages.map(({ id }) => id)

describe(`reading messages ${row('GET /api/agents/{id}/chat')}`, () => {
  it(`answers the newest 50, oldest first, unless asked otherwise ${limitRow('page-size')}`, async () => {
    const path = await stage.makeChat()
    await talk(path, numbers(30))
    const { messages, meta } = await read(path)
    expect(messages).toHaveLength(50)
    expect(meta).toEqual({ total: 60, limit: 50, offset: 0, has_more: true, hasMore: true })
    expect(questionsOf({ messages, meta })).toEqual(Array.from({ length: 25 }, (_, index) => index + 6))
    expect(messages.at(-1)?.role).toBe('assistant')
    expect((await read(path, '?limit=60')).meta.hasMore).toBe(false)
  })

  it('pages backwards with before, and forwards with after, without gap or overlap', async () => {
    const path = await stage.makeChat()
    await talk(path, numbers(6))
    const all = idsOf(await read(path))
    expect(all).toHaveLength(12)

    const backwards: string[] = []
    for (let before = '', more = true; more; before = `&before=${backwards[0]}`) {
      const page = await read(path, `?limit=5${before}`)
      backwards.unshift(...idsOf(page))
      more = page.meta.hasMore
    }
    expect(backwards).toEqual(all)

    const forwards = all.slice(0, 1)
    for (let more = true; more; ) {
      const page = await read(path, `?limit=5&after=${forwards.at(-1)}`)
      forwards.push(...idsOf(page))
      more = page.meta.hasMore
    }
    expect(forwards).toEqual(all)
  })

  it('says for the direction asked whether there are more', async () => {
    const path = await stage.makeChat()
    await talk(path, numbers(3))
    const all = idsOf(await read(path))
    const more = async (query: string) => (await read(path, query)).meta.hasMore
    expect(await more(`?limit=2&before=${all[2]}`)).toBe(false)
    expect(await more(`?limit=1&before=${all[2]}`)).toBe(true)
    expect(await more(`?limit=3&after=${all[2]}`)).toBe(false)
    expect(await more(`?limit=2&after=${all[2]}`)).toBe(true)
    expect(idsOf(await read(path, `?after=${all.at(-1)}`))).toEqual([])
    expect(idsOf(await read(path, `?after=${all[1]}&before=${all[4]}`))).toEqual(all.slice(2, 4))
  })

  it('of one conversation are no others', async () => {
    const path = await stage.makeChat()
    const first = await talk(path, ['question 1'])
    const second = await talk(path, ['question 2'])
    await talk(path, ['question 3'], first)
    expect(questionsOf(await read(path))).toEqual([1, 2, 3])
    const { messages, meta } = await read(path, `?conversationId=${first}`)
    expect(questionsOf({ messages, meta })).toEqual([1, 3])
    expect(meta.total).toBe(4)
    expect(messages.every(({ conversationId }) => conversationId === first)).toBe(true)
    expect(questionsOf(await read(path, `?conversationId=${second}`))).toEqual([2])
    // Another conversation's message is no place in this one.
    const [other] = (await read(path, `?conversationId=${second}`)).messages
    for (const side of ['before', 'after'])
      expect((await app.call('GET', `${path}?conversationId=${first}&${side}=${other?.id}`)).status).toBe(404)
  })

  it('end early where tools have answered much, and say so', async () => {
    const path = await stage.makeChat()
    const conversationId = await talk(path, ['question 1'])
    const agent = await app.service.infrastructure.agentDatabases.acquire(path.split('/')[3] ?? '')
    const createdAt = '2026-01-01T00:00:00.000Z'
    for (let number = 0; number < 45; number += 1) {
      const toolCallId = `call${number}`.padEnd(9, 'x')
      const call = { id: toolCallId, name: 'search_knowledge', arguments: {} }
      await insertMessage(agent.db, {
        id: `m${number}`,
        role: 'assistant',
        content: '',
        conversationId,
        createdAt,
        toolCalls: [call],
        toolResults: [{ toolCallId, name: call.name, result: { text: 'x'.repeat(250_000) } }],
      })
    }
    agent.release()
    const newest = await read(path)
    expect(idsOf(newest)).toEqual(['m41', 'm42', 'm43', 'm44'])
    expect(newest.meta).toMatchObject({ total: 47, hasMore: true })
    expect(idsOf(await read(path, '?before=m41&limit=10'))).toEqual(['m37', 'm38', 'm39', 'm40'])
    expect(idsOf(await read(path, '?after=m41&limit=2'))).toEqual(['m42', 'm43'])
  })

  it('end early as a list, too, and go on where they ended', async () => {
    const path = await stage.makeChat()
    const agent = await app.service.infrastructure.agentDatabases.acquire(path.split('/')[3] ?? '')
    const conversationId = await talk(path, ['question 1'])
    for (let number = 0; number < 9; number += 1)
      await insertMessage(agent.db, {
        id: `m${number}`,
        role: 'user',
        conversationId,
        createdAt: '2026-01-01T00:00:00.000Z',
        content: 'x'.repeat(400_000),
        toolCalls: null,
        toolResults: null,
      })
    agent.release()
    const first = await read(path, '?search=xxx&limit=8&cursor=')
    expect(idsOf(first)).toEqual(['m0', 'm1', 'm2'])
    expect(first.meta).toMatchObject({ total: 9, hasMore: true })
    const second = await read(path, `?search=xxx&limit=8&cursor=${first.meta.next_cursor}`)
    expect(idsOf(second)).toEqual(['m3', 'm4', 'm5'])
    const last = await read(path, '?search=xxx&offset=6')
    expect(idsOf(last)).toEqual(['m6', 'm7', 'm8'])
    expect(last.meta.hasMore).toBe(false)
  })

  it('takes the parameters of every list', async () => {
    const path = await stage.makeChat()
    await talk(path, numbers(4))
    const all = idsOf(await read(path))
    expect(idsOf(await read(path, '?offset=2&limit=3'))).toEqual(all.slice(2, 5))
    expect((await read(path, '?offset=2&limit=3')).meta).toEqual({
      total: 8,
      limit: 3,
      offset: 2,
      has_more: true,
      hasMore: true,
    })
    expect((await read(path, '?offset=5&limit=3')).meta.hasMore).toBe(false)
    expect(idsOf(await read(path, '?sort=createdAt&order=desc'))).toEqual(all.toReversed())
    expect(questionsOf(await read(path, '?search=QUESTION&sort=createdAt&order=desc'))).toEqual([4, 3, 2, 1])
    expect(idsOf(await read(path, '?to=2001-01-01'))).toEqual([])
    const first = await read(path, '?limit=5&cursor=')
    expect(first.meta.hasMore).toBe(true)
    const rest = await read(path, `?limit=5&cursor=${first.meta.next_cursor}`)
    expect([...idsOf(first), ...idsOf(rest)]).toEqual(all)
    expect(rest.meta).toMatchObject({ next_cursor: null, hasMore: false })
  })

  it.each(['id', 'createdAt', 'conversationId', 'role', 'role,id'])(
    'goes on after a cursor when sorted by %s',
    async sort => {
      const path = await stage.makeChat()
      await talk(path, numbers(2))
      await talk(path, numbers(2))
      const all = idsOf(await read(path, `?sort=${sort}`))
      const seen: string[] = []
      for (let cursor: string | null | undefined = ''; typeof cursor === 'string'; ) {
        const page = await read(path, `?sort=${sort}&limit=3&cursor=${cursor}`)
        seen.push(...idsOf(page))
        cursor = page.meta.next_cursor
      }
      expect(seen).toEqual(all)
    },
  )

  it.each([
    ['limit=0', 400],
    ['limit=1001', 400],
    ['limit=many', 400],
    ['sort=metadata', 400],
    ['before=a&offset=1', 400],
    ['before=nothing-here', 404],
    ['after=nothing-here', 404],
    ['conversationId=nothing-here', 404],
  ])(`refuses %s with %i ${errorRow('chat', 400)} ${errorRow('chat', 404)}`, async (query, status) => {
    const path = await stage.makeChat()
    const answer = await app.call('GET', `${path}?${query}`)
    expect(answer.status).toBe(status)
    expect(answer.body).toEqual({
      error: expect.any(String),
      code: status === 404 ? 'NOT_FOUND' : 'VALIDATION_ERROR',
    })
  })
})

describe(`deleting messages ${row('DELETE /api/agents/{id}/chat')}`, () => {
  it('of one conversation leaves the others, and the conversation itself', async () => {
    const path = await stage.makeChat()
    const first = await talk(path, numbers(2))
    const second = await talk(path, numbers(1))
    const { status, body } = await app.call('DELETE', `${path}?conversationId=${first}`)
    expect(status).toBe(200)
    expect(body).toEqual({ success: true, deleted: 4 })
    expect((await read(path, `?conversationId=${first}`)).messages).toEqual([])
    expect((await read(path, `?conversationId=${second}`)).messages).toHaveLength(2)
    const list = await app.call('GET', `${path}/conversations?sort=messageCount`)
    expect(list.body).toMatchObject({
      conversations: [
        { id: first, messageCount: 0 },
        { id: second, messageCount: 2 },
      ],
    })
    expect(JSON.stringify(list.body).match(/lastMessageAt/g)).toHaveLength(1)
    // Forgotten for the model as well.
    await talk(path, ['question 9'], first)
    expect(stage.model.questions().at(-1)?.messages.slice(1)).toEqual([
      { role: 'user', content: 'question 9' },
    ])
  })

  it('without an id deletes all of the agent, and none of another', async () => {
    const [path, other] = [await stage.makeChat(), await stage.makeChat()]
    await talk(path, numbers(1))
    await talk(path, numbers(1))
    await talk(other, numbers(1))
    expect((await app.call('DELETE', path)).body).toEqual({ success: true, deleted: 4 })
    expect((await read(path)).meta.total).toBe(0)
    expect((await read(other)).meta.total).toBe(2)
  })

  it.each(['conversationId=nothing-here', 'conversationId=', 'conversationId=a&conversationId=b'])(
    'deletes nothing for %s',
    async query => {
      const path = await stage.makeChat()
      await talk(path, numbers(1))
      expect((await app.call('DELETE', `${path}?${query}`)).status).toBeOneOf([400, 404])
      expect((await read(path)).meta.total).toBe(2)
    },
  )

  it(`is 409 and deletes nothing while any of them is being answered ${errorRow('chat', 409)}`, async () => {
    const path = await stage.makeChat()
    const [idle, busy] = [await talk(path, numbers(1)), await talk(path, numbers(1))]
    const held = heldStream(['Well'])
    stage.model.next(held.reply)
    const sent = stage.send(path, { content: 'Hold on', conversationId: busy })
    await held.begun
    const locked = { status: 409, body: { code: 'CONVERSATION_LOCKED' } }
    expect(await app.call('DELETE', path)).toMatchObject(locked)
    expect(await app.call('DELETE', `${path}?conversationId=${busy}`)).toMatchObject(locked)
    expect((await read(path)).meta.total).toBe(5)
    expect((await app.call('DELETE', `${path}?conversationId=${idle}`)).body).toMatchObject({ deleted: 2 })
    held.open()
    expect((await sent).status).toBe(200)
    expect((await app.call('DELETE', path)).body).toMatchObject({ deleted: 4 })
  })
})

describe(`deleting a message ${row('DELETE /api/agents/{id}/chat/messages/{messageId}')}`, () => {
  it('removes it alone', async () => {
    const path = await stage.makeChat()
    const conversationId = await talk(path, numbers(2))
    const all = idsOf(await read(path))
    const { status, body } = await app.call('DELETE', `${path}/messages/${all[3]}`)
    expect(status).toBe(200)
    expect(body).toEqual({ success: true })
    const { messages, meta } = await read(path)
    expect(messages.map(({ id }) => id)).toEqual(all.slice(0, 3))
    expect(meta.total).toBe(3)
    const list = await app.call('GET', `${path}/conversations`)
    expect(list.body).toMatchObject({
      conversations: [{ id: conversationId, messageCount: 3, lastMessageAt: messages[2]?.createdAt }],
    })
  })

  it(`is 404 for one that does not exist, or is another agent’s ${errorRow('chat', 404)}`, async () => {
    const [path, other] = [await stage.makeChat(), await stage.makeChat()]
    await talk(path, numbers(1))
    const [id] = idsOf(await read(path))
    const missing = { status: 404, body: { error: 'Message not found', code: 'NOT_FOUND' } }
    expect(await app.call('DELETE', `${other}/messages/${id}`)).toMatchObject(missing)
    expect((await app.call('DELETE', `${path}/messages/${id}`)).status).toBe(200)
    expect(await app.call('DELETE', `${path}/messages/${id}`)).toMatchObject(missing)
  })

  it('or one of its files is 409 while its conversation is being answered', async () => {
    const path = await stage.makeChat()
    const conversationId = await talk(path, numbers(1))
    const form = await formOf([['file', new File([new Uint8Array(png())], 'tides.png')]])
    const { body: file } = await app.call<{ id: string }>('POST', `${path}/files`, form)
    await stage.send(path, { content: 'Look', conversationId, attachments: [{ id: file.id }] })
    const [id] = idsOf(await read(path))
    const held = heldStream(['Well'])
    stage.model.next(held.reply)
    const sent = stage.send(path, { content: 'Hold on', conversationId })
    await held.begun
    const places = [`${path}/messages/${id}`, `${path}/files/${file.id}`]
    for (const place of places)
      expect(await app.call('DELETE', place)).toMatchObject({
        status: 409,
        body: { code: 'CONVERSATION_LOCKED' },
      })
    held.open()
    await sent
    for (const place of places)
      for (const status of [200, 404]) expect((await app.call('DELETE', place)).status).toBe(status)
  })
})
