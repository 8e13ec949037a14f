/** Chats of very many messages: what is done with all of them holds up nobody. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ChatStage, type MessageList, setChatStage } from '#test/support/chat-stage.ts'
import { turnsDuring } from '#test/support/turns-during.ts'

const at = '2026-01-01T00:00:00.000Z'

let stage: ChatStage
let app: ChatStage['app']

beforeAll(async () => {
  stage = await setChatStage()
  app = stage.app
})

afterAll(() => stage[Symbol.asyncDispose]())

interface Chats {
  conversations: number
  /** In each conversation. */
  messages: number
  content?: string
}

/** An agent with chats that are stored as they are, without a turn for each; the path of its chat. */
async function makeChats({ conversations, messages, content = 'Words' }: Chats): Promise<string> {
  const path = await stage.makeChat()
  const agentId = path.split('/')[3] ?? ''
  await app.service.infrastructure.agentDatabases.use(agentId, async ({ db }) => {
    for (let number = 0; number < conversations; number += 1) {
      const conversation = {
        id: `c${number}`,
        title: 'Many',
        message_count: messages,
        last_message_at: at,
        created_at: at,
        lock_token: 0,
      }
      await db.insertInto('conversations').values(conversation).execute()
      for (let first = 0; first < messages; first += 100) {
        const rows = Array.from({ length: Math.min(100, messages - first) }, () => ({
          id: randomUUID(),
          conversation_id: conversation.id,
          role: 'user',
          content,
          created_at: at,
        }))
        await db.insertInto('messages').values(rows).execute()
      }
    }
  })
  return path
}

interface ConversationList {
  conversations: { id: string; messageCount: number; lastMessageAt?: string }[]
}

async function conversationsOf(path: string) {
  const { body } = await app.call<ConversationList>('GET', `${path}/conversations?sort=id`)
  return body.conversations
}

describe('deleting very many messages', () => {
  it('lets others have their turns in between, and leaves conversations without messages', async () => {
    const path = await makeChats({ conversations: 3, messages: 1000 })
    const deleting = app.call('DELETE', path)
    // More than one for each portion of a hundred.
    expect(await turnsDuring(deleting)).toBeGreaterThan(30)
    expect((await deleting).body).toEqual({ success: true, deleted: 3000 })
    expect(await conversationsOf(path)).toMatchObject([
      { messageCount: 0 },
      { messageCount: 0 },
      { messageCount: 0 },
    ])
    expect((await app.call<MessageList>('GET', path)).body.meta.total).toBe(0)
  })

  it('takes fewer at a time where they are large', async () => {
    const path = await makeChats({ conversations: 1, messages: 40, content: 'x'.repeat(500_000) })
    const deleting = app.call('DELETE', `${path}/conversations/c0`)
    expect(await turnsDuring(deleting)).toBeGreaterThan(10)
    expect((await deleting).body).toEqual({ success: true, deleted: 40 })
    expect(await conversationsOf(path)).toEqual([])
  })

  it('ends where somebody begins to answer meanwhile, with what is left counted', async () => {
    const path = await makeChats({ conversations: 2, messages: 2000 })
    const deleting = app.call<{ error: { code: string } }>('DELETE', path)
    const asked = await stage.send(path, { content: 'Are you there?', conversationId: 'c1' })
    expect(asked.status).toBe(200)
    const { status } = await deleting
    const list = await app.call<MessageList>('GET', `${path}?conversationId=c1&limit=1`)
    const [, second] = await conversationsOf(path)
    expect(second?.messageCount).toBe(list.body.meta.total)
    expect([200, 409]).toContain(status)
  })
})

describe('searching messages', () => {
  it.each([
    ['kelvin', 3],
    ['KELVIN', 3],
    ['Änderung', 2],
    ['\u0130STANBUL', 1],
    ['100% done', 1],
    ['100_ done', 0],
    ['nobody', 0],
  ])('finds %j in any letter case', async (search, total) => {
    const path = await stage.makeChat()
    const contents = [
      'Kelvin',
      '\u212aelvin',
      'KELVIN: Änderung',
      'eine ÄNDERUNG',
      '\u0130stanbul',
      '100% done',
    ]
    for (const content of contents) await stage.send(path, { content })
    const query = new URLSearchParams({ search })
    const { body } = await app.call<MessageList>('GET', `${path}?${query}`)
    expect(body.messages.filter(({ role }) => role === 'user')).toHaveLength(total)
  })
})
