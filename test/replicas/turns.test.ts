/** Turns that one process runs, as others see them. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { ChatModel } from '../support/chat-model.ts'
import { heldStream, startChatModel } from '../support/chat-model.ts'
import type { MessageList } from '../support/chat-stage.ts'
import { scaled, seededRandom } from '../support/endurance.ts'
import { openaiText, openaiToolCall } from '../support/model-server.ts'
import { openStream } from '../support/open-stream.ts'
import type { ReplicaSet } from '../support/replica-set.ts'
import { startReplicas } from '../support/replica-set.ts'
import { readTurn } from '../support/turn-reader.ts'

const chat = '/api/agents/default/chat'

const limits = {
  LEASE_SECONDS: '5',
  RATE_LIMIT_GENERAL: '0',
  RATE_LIMIT_CHAT: '0',
  CONVERSATIONS_MAX: '1000',
}

let model: ChatModel
let replicas: ReplicaSet

beforeAll(async () => {
  model = await startChatModel()
  const environment = { ...model.environment, DEV_USER: 'dev@example.com', ...limits }
  replicas = await startReplicas(2, (_index, url) => ({ ...environment, REPLICA_URL: url }))
})

afterAll(async () => {
  await replicas[Symbol.asyncDispose]()
  await model[Symbol.asyncDispose]()
})

it('are stopped through any of them', async () => {
  const held = heldStream(['Half'])
  model.next(held.reply)
  const answer = await openStream(`${replicas.at(0).url}${chat}`, { content: 'Go' })
  const [start] = await answer.until('content_delta')
  const stopped = await replicas.at(1).call('POST', `${chat}/turns/${start?.turnId}/stop`)
  expect(stopped).toMatchObject({ status: 200, body: { status: 'stopped' } })
  await held.ended
  expect((await answer.rest()).at(-1)).toMatchObject({ type: 'message_complete' })
  const turn = await replicas.at(1).call('GET', `${chat}/conversations/${start?.conversationId}/turn`)
  expect(turn.body).toEqual({ turn: null })
})

interface Accepted {
  turn: { id: string; events: string }
  userMessage: { conversationId: string }
}

async function begin(at: number, content: string): Promise<Accepted> {
  const body = { content, autoRag: false, background: true }
  const answer = await replicas.at(at).call<Accepted>('POST', chat, { body })
  expect(answer.status).toBe(200)
  return answer.body
}

async function storedIn({ userMessage }: Accepted): Promise<string | undefined> {
  const path = `${chat}?conversationId=${userMessage.conversationId}`
  return (await replicas.any().call<MessageList>('GET', path)).body.messages.at(-1)?.content
}

it(`in the background are read at any of them, by readers that are cut anywhere (${scaled(200)} turns)`, async () => {
  const random = seededRandom(20_261_127)
  const words = Array.from({ length: 60 }, (_, at) => ` ${at}é`)
  const readings = Array.from({ length: scaled(200) }, async (_, n) => {
    model.next({ stream: openaiText(...words) })
    const accepted = await begin(n, `Turn ${n}`)
    let cuts = 10
    const cutAfter = () => {
      cuts -= 1
      return cuts < 0 ? undefined : Math.floor(random() * 500)
    }
    return {
      accepted,
      ...(await readTurn(() => `${replicas.any().url}${accepted.turn.events}`, { cutAfter })),
    }
  })
  for (const { accepted, events, ids, text } of await Promise.all(readings)) {
    expect(text).toBe(await storedIn(accepted))
    expect(ids).toEqual(events.map((_, index) => `${accepted.turn.id}.${index + 1}`))
    expect(events.filter(({ type }) => type === 'message_complete')).toHaveLength(1)
  }
})

it.each([
  ['an approval', 'one', 0],
  ['an approval', 'one', 1],
  ['a person in their browser', 'browser_ask_person', 0],
  ['a person in their browser', 'browser_ask_person', 1],
])('that wait for %s go on (%s at %i)', async (_, tool, index) => {
  const agent = chat.replace('/chat', '')
  const configuration = { code: 'return 1' }
  const one = { name: 'one', description: 'd', type: 'javascript', requiresApproval: 'always', configuration }
  await replicas.any().call('POST', `${agent}/tools`, { body: one })
  await replicas.any().call('PUT', `${agent}/settings`, { body: { browser_tools: true } })
  model.next(
    { stream: openaiToolCall(tool, tool === 'one' ? {} : { reason: 'Sign in' }) },
    { stream: openaiText('Done.') },
  )
  const accepted = await begin(0, 'Go')
  const path = `${chat}/conversations/${accepted.userMessage.conversationId}/turn`
  const waits = await vi.waitUntil(
    async () => {
      const { body } = await replicas.any().call<{ turn: { waiting?: Record<string, string> } }>('GET', path)
      return body.turn.waiting
    },
    { timeout: 30_000 },
  )
  const decision = waits.session_id
    ? `${agent}/browser/${waits.session_id}/takeover/end`
    : `${chat}/approvals/${waits.approval_id}`
  expect(await replicas.at(index).call('POST', decision, { body: {} })).toMatchObject({ status: 200 })
  const { events } = await readTurn(() => `${replicas.any().url}${accepted.turn.events}`)
  expect(events.at(-1)).toMatchObject({
    type: 'message_complete',
    toolResults: [{ result: expect.anything() }],
  })
  expect(await storedIn(accepted)).toBe('Done.')
})

it('in the background go on at another when theirs is killed', async () => {
  const held = heldStream(['Lost'])
  model.next(held.reply, { stream: openaiText('Found.') })
  const accepted = await begin(0, 'Go')
  const reading = readTurn(() => `${replicas.any().url}${accepted.turn.events}`)
  await held.begun
  // Whichever runs it: the turn goes on with the next question to the model.
  await replicas.at(0).kill()
  await replicas.replace(0)
  await replicas.at(1).kill()
  await replicas.replace(1)
  expect((await reading).text).toBe('Found.')
  expect(await storedIn(accepted)).toBe('Found.')
})
