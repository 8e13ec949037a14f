import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Question } from '../support/chat-model.ts'
import type { MessageList } from '../support/chat-stage.ts'
import { isFullEndurance, seededRandom } from '../support/endurance.ts'
import { eventually } from '../support/eventually.ts'
import { openaiText, openaiToolCall, startModelServer } from '../support/model-server.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { readTurn } from '../support/turn-reader.ts'

const path = '/api/agents/default/chat'
const rounds = isFullEndurance ? 20 : 2
const atOnce = 5
/** Within which the server is killed after the first decision, in milliseconds. */
const longest = 250

interface Accepted {
  turn: { id: string; events: string }
  userMessage: { conversationId: string }
}

/** One call, and an answer. */
function modelOf(calls: Map<string, number>) {
  return startModelServer(async ({ path: asked, body }) => {
    if (asked.startsWith('/count/')) {
      calls.set(asked, (calls.get(asked) ?? 0) + 1)
      await delay(30)
      return { json: { counted: true } }
    }
    if (!asked.endsWith('/chat/completions')) return { json: { data: [{ id: 'fake-model' }] } }
    const { messages } = body as Question
    const turn = /Turn (\d+)/.exec(JSON.stringify(messages.findLast(({ role }) => role === 'user')))?.[1]
    const isMade = messages.at(-1)?.role === 'tool'
    return { stream: isMade ? openaiText(`Done ${turn}.`) : openaiToolCall('count', { turn }) }
  })
}

describe('kill -9 around the decision on a call', () => {
  it(`loses no turn, and makes no call twice (${rounds * atOnce} times)`, async () => {
    const calls = new Map<string, number>()
    await using model = await modelOf(calls)
    const dataDirectory = temporaryDirectory()
    const random = seededRandom(20_261_128)
    const environment = {
      ...{ OPENAI_COMPATIBLE_BASE_URL: model.url, DEFAULT_PROVIDER: 'openai-compatible' },
      ...{ DEFAULT_MODEL: 'fake-model', OUTBOUND_ALLOW: '127.0.0.1', RATE_LIMIT_GENERAL: '0' },
    }
    const start = () => startServerProcess({ dataDirectory, environment })
    let server: ServerProcess = await start()
    await server.call('POST', '/api/agents/default/tools', {
      body: {
        ...{ name: 'count', description: 'Counts.', type: 'http', requiresApproval: 'always' },
        configuration: {
          ...{ method: 'POST', url: `${model.url}/count/{turn}` },
          parameters: { type: 'object', properties: { turn: { type: 'string' } } },
        },
      },
    })
    let lost = 0

    async function begin(turn: number) {
      const { body } = await server.call<Accepted>('POST', path, {
        body: { content: `Turn ${turn}`, autoRag: false, background: true },
      })
      const { conversationId } = body.userMessage
      let call = ''
      await eventually(async () => {
        const at = `${path}/approvals?status=pending&conversationId=${conversationId}`
        const { approvals } = (await server.call<{ approvals: { toolCallId: string }[] }>('GET', at)).body
        expect(approvals).toHaveLength(1)
        call = approvals[0]?.toolCallId ?? ''
      })
      const decide = () => server.call('POST', `${path}/approvals/${call}`, { body: {} }).catch(() => {})
      async function end(): Promise<void> {
        // A decision that was lost with the server is made again; one that was stored is refused.
        await decide()
        const { events } = await readTurn(() => `${server.url}${body.turn.events}`)
        expect(events.at(-1)).toMatchObject({ type: 'message_complete', assistantMessageId: body.turn.id })
        const { messages } = (
          await server.call<MessageList>('GET', `${path}?conversationId=${conversationId}`)
        ).body
        const answer = messages.at(-1)
        expect(answer).toMatchObject({ content: `Done ${turn}.` })
        expect(answer?.metadata).not.toHaveProperty('waiting')
        const [result] = answer?.toolResults ?? []
        const isLost = result?.error?.includes('may have done its work') ?? false
        expect(isLost || result?.error === undefined).toBe(true)
        if (isLost) lost += 1
        else expect(calls.get(`/count/${turn}`)).toBe(1)
      }
      return { decide, end }
    }

    for (let round = 0; round < rounds; round += 1) {
      const turns = []
      for (let n = 1; n <= atOnce; n += 1) turns.push(await begin(round * atOnce + n))
      const decided = turns.map(async ({ decide }) => {
        await delay(random() * longest)
        await decide()
      })
      await delay(random() * longest)
      await server.kill()
      await Promise.all(decided)
      server = await start()
      for (const { end } of turns) await end()
    }
    await server[Symbol.asyncDispose]()
    expect(Math.max(...calls.values())).toBe(1)
    expect(calls.size + lost).toBeGreaterThanOrEqual(rounds * atOnce)
  })
})
