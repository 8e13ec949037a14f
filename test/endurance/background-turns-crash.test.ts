import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Question } from '../support/chat-model.ts'
import type { MessageList } from '../support/chat-stage.ts'
import { isFullEndurance, seededRandom } from '../support/endurance.ts'
import { openaiChunk, openaiToolCall, startModelServer, wireForm } from '../support/model-server.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { readTurn } from '../support/turn-reader.ts'

const path = '/api/agents/default/chat'
const rounds = isFullEndurance ? 100 : 2
/** Turns that are killed together, each at another point. */
const atOnce = 5
interface Accepted {
  turn: { events: string }
  userMessage: { conversationId: string }
}

/** Milliseconds within which a turn ends after the restart. */
const endLimit = 10_000
/** Of a turn, in milliseconds: it is killed anywhere in it. */
const longest = 500

/** Two calls, each after some words, and an answer in many pieces. */
function modelOf(calls: Map<string, number>) {
  return startModelServer(async ({ path: asked, body }) => {
    if (asked.startsWith('/count/')) {
      calls.set(asked, (calls.get(asked) ?? 0) + 1)
      await delay(20)
      return { json: { counted: true } }
    }
    if (!asked.endsWith('/chat/completions')) return { json: { data: [{ id: 'fake-model' }] } }
    const { messages } = body as Question
    const at = messages.findLastIndex(({ role }) => role === 'user')
    const made = messages.slice(at).filter(({ role }) => role === 'tool').length
    const turn = /Turn (\d+)/.exec(JSON.stringify(messages[at]))?.[1]
    return { stream: answer(String(turn), made) }
  })
}

async function* answer(turn: string, made: number): AsyncGenerator<string> {
  const calls =
    made < 2 ? openaiToolCall('count', { turn, n: made }) : wireForm('openai', [openaiChunk({}, 'stop')])
  for (let piece = 0; piece < (made < 2 ? 3 : 20); piece += 1) {
    yield `data: ${JSON.stringify(openaiChunk({ content: ` ${turn}.${made}.${piece}` }))}\n\n`
    await delay(6)
  }
  yield* calls
}

describe('kill -9 in the middle of a turn in the background', () => {
  it(`repeats no tool, and its readers have the stored text in the end (${rounds * atOnce} times)`, async () => {
    const calls = new Map<string, number>()
    await using model = await modelOf(calls)
    const dataDirectory = temporaryDirectory()
    const random = seededRandom(20_261_127)
    const environment = {
      ...{ OPENAI_COMPATIBLE_BASE_URL: model.url, DEFAULT_PROVIDER: 'openai-compatible' },
      ...{ DEFAULT_MODEL: 'fake-model', OUTBOUND_ALLOW: '127.0.0.1', RATE_LIMIT_GENERAL: '0' },
    }
    const start = () => startServerProcess({ dataDirectory, environment })
    let server: ServerProcess = await start()
    await server.call('POST', '/api/agents/default/tools', {
      body: {
        ...{ name: 'count', description: 'Counts.', type: 'http' },
        configuration: {
          ...{ method: 'POST', url: `${model.url}/count/{turn}/{n}` },
          parameters: { type: 'object', properties: { turn: { type: 'string' }, n: { type: 'integer' } } },
        },
      },
    })
    let lost = 0

    /** Begins a turn and reads it to its end, however often the server dies. */
    async function follow(turn: number) {
      const { body } = await server.call<Accepted>('POST', path, {
        body: { content: `Turn ${turn}`, autoRag: false, background: true },
      })
      const reading = readTurn(() => `${server.url}${body.turn.events}`)
      return async () => {
        const { events, ids, text } = await reading
        const conversation = `${path}?conversationId=${body.userMessage.conversationId}`
        const { messages } = (await server.call<MessageList>('GET', conversation)).body
        expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant'])
        expect(text).toBe(messages[1]?.content)
        expect(text).toContain(` ${turn}.2.19`)
        expect(new Set(ids).size).toBe(ids.length)
        expect(events.filter(({ type }) => type === 'message_complete')).toHaveLength(1)
        expect(events.at(-1)).toMatchObject({ type: 'message_complete', toolCalls: messages[1]?.toolCalls })
        const results = messages[1]?.toolResults ?? []
        lost += results.filter(({ error }) => error?.includes('may have done its work')).length
      }
    }

    for (let round = 0; round < rounds; round += 1) {
      const ends: (() => Promise<void>)[] = []
      for (let n = 1; n <= atOnce; n += 1) {
        ends.push(await follow(round * atOnce + n))
        await delay((random() * longest) / atOnce)
      }
      await server.kill()
      server = await start()
      const restarted = performance.now()
      for (const end of ends) await end()
      expect(performance.now() - restarted).toBeLessThan(endLimit)
    }
    await server[Symbol.asyncDispose]()
    expect(Math.max(...calls.values())).toBe(1)
    expect(calls.size + lost).toBeGreaterThanOrEqual(2 * rounds * atOnce)
  })
})
