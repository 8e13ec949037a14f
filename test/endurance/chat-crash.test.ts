import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { ChatMessage } from '#features/chat/chat.schema.ts'
import { heldStream, startChatModel } from '../support/chat-model.ts'
import type { MessageList, TurnBody } from '../support/chat-stage.ts'
import { crashRounds, seededRandom } from '../support/endurance.ts'
import { openaiToolCall } from '../support/model-server.ts'
import { type OpenStream, openStream } from '../support/open-stream.ts'
import { type ServerProcess, startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const path = '/api/agents/default/chat'
/** An answer in the making is stored every second; in milliseconds, and far more, since the machine may be busy. */
const checkpointLimit = 10_000

/** An answer that was under way when the server was killed, and what a client knew of it. */
interface Interrupted {
  conversationId: string
  userMessageId: string
  /** What was read back from the server while it lived. */
  seen: ChatMessage[]
  /** All that the model had said. */
  said: string
}

async function read(server: ServerProcess, conversationId: string): Promise<ChatMessage[]> {
  const { status, body } = await server.call<MessageList>('GET', `${path}?conversationId=${conversationId}`)
  expect(status).toBe(200)
  return body.messages
}

/** Waits until the answer in the making can be read back; fails if that takes longer than is promised. */
async function untilCheckpoint(server: ServerProcess, conversationId: string): Promise<void> {
  const begun = performance.now()
  while ((await read(server, conversationId)).length < 2) {
    expect(performance.now() - begun).toBeLessThan(checkpointLimit)
    await delay(20)
  }
}

describe('kill -9 in the middle of a turn', () => {
  it(`loses nothing that could be read back, and leaves nothing locked (${crashRounds} times)`, async () => {
    await using model = await startChatModel()
    const dataDirectory = temporaryDirectory()
    const random = seededRandom(20_261_121)
    const interrupted: Interrupted[] = []

    async function ask(server: ServerProcess, round: number): Promise<[OpenStream, string]> {
      const said = `Answer ${round} begins`
      // A tool call first, in every other round: it is part of what is kept.
      if (round % 2 === 0)
        model.next({ stream: openaiToolCall('search_knowledge', { query: `tides ${round}` }) })
      model.next(heldStream([said]).reply)
      return [await openStream(`${server.url}${path}`, { content: `Question ${round}` }), said]
    }

    for (let round = 1; round <= crashRounds; round += 1) {
      const server = await startServerProcess({ dataDirectory, environment: model.environment })
      for (const before of interrupted.slice(-1)) await expectRecovered(server, before)
      const [answer, said] = await ask(server, round)
      const [start] = await answer.until('message_start')
      const conversationId = String(start?.conversationId)
      await answer.until('content_delta')
      // In every third round the end comes at any time, else after the first checkpoint.
      if (round % 3 === 0) await delay(random() * 2000)
      else await untilCheckpoint(server, conversationId)
      const seen = await read(server, conversationId)
      await server.kill()
      await expect(answer.rest()).rejects.toThrow()
      interrupted.push({ conversationId, userMessageId: String(start?.userMessageId), seen, said })
      expectSound(dataDirectory)
    }

    await using server = await startServerProcess({ dataDirectory, environment: model.environment })
    for (const one of interrupted) await expectRecovered(server, one)
    await expectUnlocked(server, interrupted)
  })
})

/** The question is there, and of the answer what was seen of it, or more; it is marked as cut off. */
async function expectRecovered(server: ServerProcess, before: Interrupted): Promise<void> {
  const [question, answer, ...more] = await read(server, before.conversationId)
  expect(question?.id).toBe(before.userMessageId)
  expect(more).toEqual([])
  if (before.seen.length > 1) expect(answer).toMatchObject({ id: before.seen[1]?.id })
  if (answer === undefined) return
  expect(answer.metadata).toMatchObject({ model: 'fake-model', aborted: true })
  expect(before.said.startsWith(answer.content)).toBe(true)
  expect(answer.content.startsWith(before.seen[1]?.content ?? '')).toBe(true)
  expect(answer.toolResults).toEqual(before.seen[1]?.toolResults ?? answer.toolResults)
}

/** Every conversation takes a message at once, without waiting for a lease to end. */
async function expectUnlocked(server: ServerProcess, interrupted: readonly Interrupted[]): Promise<void> {
  for (const { conversationId } of interrupted) {
    const { status, body } = await server.call<TurnBody>('POST', path, {
      body: { content: 'Go on', conversationId },
    })
    expect(status).toBe(200)
    expect(body.assistantMessage.content).not.toBe('')
  }
  expect((await server.call('DELETE', path)).status).toBe(200)
}

function expectSound(dataDirectory: string): void {
  const database = new DatabaseSync(`${dataDirectory}/agents/default/agent.db`, { readOnly: true })
  expect(database.prepare('pragma quick_check').get()).toEqual({ quick_check: 'ok' })
  database.close()
}
