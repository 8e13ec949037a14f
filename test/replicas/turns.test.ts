/** Turns that one process runs, as others see them. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type ChatModel, heldStream, startChatModel } from '../support/chat-model.ts'
import { type AcceptedTurn, beginTurn, expectWholeReadings, storedText } from '../support/cut-readings.ts'
import { scaled, seededRandom } from '../support/endurance.ts'
import { openaiText, openaiToolCall } from '../support/model-server.ts'
import { openStream } from '../support/open-stream.ts'
import { type ReplicaSet, startReplicas } from '../support/replica-set.ts'
import { readTurn } from '../support/turn-reader.ts'

const chat = '/api/agents/default/chat'

const limits = {
  LEASE_SECONDS: '5',
  RATE_LIMIT_GENERAL: '0',
  RATE_LIMIT_CHAT: '0',
}

let model: ChatModel
let replicas: ReplicaSet

beforeAll(async () => {
  model = await startChatModel()
  const environment = { ...model.environment, DEV_USER: 'dev@example.com', ...limits }
  replicas = await startReplicas(2, (_index, url) => ({ ...environment, REPLICA_URL: url }))
  const body = { conversations_max: 1000 }
  const settings = chat.replace(/chat$/, 'settings')
  expect(await replicas.any().call('PUT', settings, { body })).toMatchObject({ status: 200 })
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

const begin = () => beginTurn(replicas.at(0), 'Go')
const stored = (turn: AcceptedTurn) => storedText(replicas.any(), turn)

it(`in the background are read at any of them, by readers that are cut anywhere (${scaled(200)} turns)`, async () => {
  const random = seededRandom(20_261_127)
  const any = () => replicas.at(Math.floor(random() * 2))
  await expectWholeReadings({ model, any, random, count: scaled(200) })
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
  const accepted = await begin()
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
  expect(await stored(accepted)).toBe('Done.')
})

it('in the background go on at another when theirs is killed', async () => {
  const held = heldStream(['Lost'])
  model.next(held.reply, { stream: openaiText('Found.') })
  const accepted = await begin()
  const reading = readTurn(() => `${replicas.any().url}${accepted.turn.events}`)
  await held.begun
  // Whichever runs it: the turn goes on with the next question to the model.
  await replicas.at(0).kill()
  await replicas.replace(0)
  await replicas.at(1).kill()
  await replicas.replace(1)
  expect((await reading).text).toBe('Found.')
  expect(await stored(accepted)).toBe('Found.')
})
