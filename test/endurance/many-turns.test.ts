/** Very many turns that begin at once. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ChatModel, type Question, startChatModel } from '../support/chat-model.ts'
import type { TurnBody } from '../support/chat-stage.ts'
import { expectWholeReadings, storedText, turnIn } from '../support/cut-readings.ts'
import { isFullEndurance, scaled, seededRandom } from '../support/endurance.ts'
import { openaiText } from '../support/model-server.ts'
import { type ServerProcess, startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const path = '/api/agents/default/chat'
const burst = isFullEndurance ? 100 : 25

let model: ChatModel
let server: ServerProcess

beforeAll(async () => {
  model = await startChatModel()
  const { environment } = model
  server = await startServerProcess({ dataDirectory: temporaryDirectory(afterAll), environment })
  const body = { conversations_max: 1000 }
  expect(await server.call('PUT', path.replace(/chat$/, 'settings'), { body })).toMatchObject({ status: 200 })
})

afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await model[Symbol.asyncDispose]()
})

it(`in the background are read whole by readers that are cut anywhere (${scaled(200)} turns)`, async () => {
  const random = seededRandom(20_261_127)
  await expectWholeReadings({ model, any: () => server, random, count: scaled(200) })
})

it(`are each answered with their own answer (${burst} turns)`, async () => {
  const answer = (question: Question) => ({ stream: openaiText(`It is ${turnIn(question)}.`) })
  model.next(...Array.from({ length: burst }, () => answer))
  const sent = Array.from({ length: burst }, (_, n) =>
    server.call<TurnBody>('POST', path, { body: { content: `Turn ${n}`, autoRag: false } }),
  )
  for (const [n, { status, body }] of (await Promise.all(sent)).entries()) {
    expect([status, body.assistantMessage.content]).toEqual([200, `It is Turn ${n}.`])
    expect(await storedText(server, body)).toBe(`It is Turn ${n}.`)
  }
})
