/** Turns that one process runs, as others see them. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ChatModel } from '../support/chat-model.ts'
import { heldStream, startChatModel } from '../support/chat-model.ts'
import { openStream } from '../support/open-stream.ts'
import type { ReplicaSet } from '../support/replica-set.ts'
import { startReplicas } from '../support/replica-set.ts'

const chat = '/api/agents/default/chat'

let model: ChatModel
let replicas: ReplicaSet

beforeAll(async () => {
  model = await startChatModel()
  const environment = { ...model.environment, DEV_USER: 'dev@example.com', LEASE_SECONDS: '5' }
  replicas = await startReplicas(2, environment)
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
