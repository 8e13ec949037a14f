/** Turns in the background whose readers are cut anywhere, ten times each, and come back to any process. */
import { expect } from 'vitest'
import type { ChatModel, Question } from './chat-model.ts'
import type { MessageList } from './chat-stage.ts'
import { openaiText } from './model-server.ts'
import type { ServerProcess } from './server-process.ts'
import { readTurn } from './turn-reader.ts'

const chat = '/api/agents/default/chat'

export interface AcceptedTurn {
  turn: { id: string; events: string }
  userMessage: { conversationId: string }
}

interface Load {
  model: ChatModel
  /** The process that the next call goes to. */
  any(): ServerProcess
  random(): number
  /** Turns, which begin all at once. */
  count: number
}

/** Expects that each reader has the stored answer in the end, and has had every event once. */
export async function expectWholeReadings({ model, any, random, count }: Load): Promise<void> {
  // What each turn says is its own.
  const words = (of: string) => [of, ...Array.from({ length: 60 }, (_, at) => ` ${at}é`)]
  const answer = (question: Question) => ({ stream: openaiText(...words(turnIn(question))) })
  model.next(...Array.from({ length: count }, () => answer))
  const readings = Array.from({ length: count }, async (_, n) => {
    const accepted = await beginTurn(any(), `Turn ${n}`)
    let cuts = 10
    const cutAfter = () => {
      cuts -= 1
      return cuts < 0 ? undefined : Math.floor(random() * 500)
    }
    const read = await readTurn(() => `${any().url}${accepted.turn.events}`, { cutAfter })
    return { accepted, ...read, said: words(`Turn ${n}`).join('') }
  })
  for (const { accepted, events, ids, text, said } of await Promise.all(readings)) {
    expect(text).toBe(said)
    expect(text).toBe(await storedText(any(), accepted))
    expect(ids).toEqual(events.map((_, index) => `${accepted.turn.id}.${index + 1}`))
    expect(events.filter(({ type }) => type === 'message_complete')).toHaveLength(1)
  }
}

/** The turn that a model is asked for, as its message names it. */
export function turnIn({ messages }: Question): string {
  const asked = messages.findLast(({ role }) => role === 'user')
  return /Turn \d+/.exec(JSON.stringify(asked))?.[0] ?? ''
}

/** Begins one in a new conversation. */
export async function beginTurn(server: ServerProcess, content: string): Promise<AcceptedTurn> {
  const body = { content, autoRag: false, background: true }
  const answer = await server.call<AcceptedTurn>('POST', chat, { body })
  expect(answer.status).toBe(200)
  return answer.body
}

/** Of the last message in its conversation. */
export async function storedText(
  server: ServerProcess,
  { userMessage }: Pick<AcceptedTurn, 'userMessage'>,
): Promise<string | undefined> {
  const path = `${chat}?conversationId=${userMessage.conversationId}`
  return (await server.call<MessageList>('GET', path)).body.messages.at(-1)?.content
}
