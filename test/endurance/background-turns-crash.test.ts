import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Question } from '../support/chat-model.ts'
import type { MessageList } from '../support/chat-stage.ts'
import { isFullEndurance, seededRandom } from '../support/endurance.ts'
import { openaiChunk, openaiToolCall, startModelServer, wireForm } from '../support/model-server.ts'
import { type ServerProcess, startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { readTurn } from '../support/turn-reader.ts'

const path = '/api/agents/default/chat'
/** In every third round the server is stopped, as by a deploy, and killed in the others. */
const rounds = isFullEndurance ? 150 : 3
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

/** What a call, or a part of an answer, waits for until its server hangs up: longer than a server that stops waits for turns. */
async function* hanging(): AsyncGenerator<string> {
  for (;;) {
    yield ': waiting\n\n'
    await delay(20)
  }
}

/**
 * Two calls, each after some words, and an answer in many pieces.
 * @param hung those that hang when they come first: `/count/TURN/N` or `TURN.N`
 */
function modelOf(calls: Map<string, number>, hung: Set<string>) {
  return startModelServer(async ({ path: asked, body }) => {
    if (asked.startsWith('/count/')) {
      calls.set(asked, (calls.get(asked) ?? 0) + 1)
      if (hung.delete(asked)) return { stream: hanging() }
      await delay(20)
      return { json: { counted: true } }
    }
    if (!asked.endsWith('/chat/completions')) return { json: { data: [{ id: 'fake-model' }] } }
    const { messages } = body as Question
    const at = messages.findLastIndex(({ role }) => role === 'user')
    const made = messages.slice(at).filter(({ role }) => role === 'tool').length
    const turn = /Turn (\d+)/.exec(JSON.stringify(messages[at]))?.[1]
    const said = answer(String(turn), made)
    return { stream: hung.delete(`${turn}.${made}`) ? withHanging(said) : said }
  })
}

async function* withHanging(said: AsyncIterable<string>): AsyncGenerator<string> {
  let pieces = 0
  for await (const piece of said) {
    yield piece
    pieces += 1
    if (pieces === 2) yield* hanging()
  }
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

/** Where a turn hangs until the server no longer waits for it, which takes seconds; the others end meanwhile. */
function placeIn(turn: number, random: number): string {
  const at = Math.floor(random * 5)
  return at < 2 ? `/count/${turn}/${at}` : `${turn}.${at - 2}`
}

async function end(server: ServerProcess, isStop: boolean): Promise<void> {
  if (isStop) expect(await server.stop()).toBe(0)
  else await server.kill()
}

describe('the end of the server in the middle of a turn in the background', () => {
  it(`repeats no tool, and its readers have the stored text in the end (${rounds * atOnce} times)`, async () => {
    const calls = new Map<string, number>()
    const hung = new Set<string>()
    await using model = await modelOf(calls, hung)
    const dataDirectory = temporaryDirectory()
    const random = seededRandom(20_261_127)
    const environment = {
      OPENAI_COMPATIBLE_BASE_URL: model.url,
      DEFAULT_PROVIDER: 'openai-compatible',
      DEFAULT_MODEL: 'fake-model',
      OUTBOUND_ALLOW: '127.0.0.1',
      RATE_LIMIT_GENERAL: '0',
    }
    const start = () => startServerProcess({ dataDirectory, environment })
    let server: ServerProcess = await start()
    // The model writes the paths of its calls itself.
    const settings = { browse_hosts: [new URL(model.url).host] }
    await server.call('PUT', '/api/agents/default/settings', { body: settings })
    await server.call('POST', '/api/agents/default/tools', {
      body: {
        name: 'count',
        description: 'Counts.',
        type: 'http',
        configuration: {
          method: 'POST',
          url: `${model.url}/count/{turn}/{n}`,
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
      const isStop = round % 3 === 2
      const ends: (() => Promise<void>)[] = []
      for (let n = 1; n <= atOnce; n += 1) {
        const turn = round * atOnce + n
        if (isStop && isFullEndurance && n > 2) hung.add(placeIn(turn, random()))
        ends.push(await follow(turn))
        await delay((random() * longest) / atOnce)
      }
      await end(server, isStop)
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
