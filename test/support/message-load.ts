/** People who write to an agent on Telegram and WhatsApp while its processes are killed; and what must have come of it. */
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'
import { telegramSecret } from '#features/channels/incoming/telegram-update.ts'
import type { ChatMessage, Conversation } from '#features/chat/chat.schema.ts'
import { whatsappSecrets } from './channel-stage.ts'
import type { MessageList } from './chat-stage.ts'
import { isFullEndurance } from './endurance.ts'
import { fromTelegram, fromWhatsapp, type MessengerRequest } from './messenger-deliveries.ts'
import { openaiText, startModelServer } from './model-server.ts'
import type { ServerProcess } from './server-process.ts'
import { startTelegramServer } from './telegram-server.ts'
import { startWhatsappServer } from './whatsapp-server.ts'

const people = isFullEndurance ? 50 : 5
/** Of each person: as many as are taken within a minute. */
const messagesEach = 20
export const messageCount = people * messagesEach
export const messageCrashes = isFullEndurance ? 20 : 2
/** Milliseconds between two messages of a person at most, so that all are spread over the crashes. */
const maxPause = isFullEndurance ? 5_000 : 800
/** Milliseconds: a job that was interrupted waits for up to 30 s. */
const recoveryLimit = 120_000

const agent = '/api/agents/default'
const telegramToken = '4711:AAE-load'
const account = {
  secret: whatsappSecrets.whatsapp_app_secret,
  phoneNumberId: whatsappSecrets.whatsapp_phone_number_id,
}

type Call = ServerProcess['call']
/** Gives the status that a delivery was answered with. */
type Send = (messenger: string, request: MessengerRequest) => Promise<number>

interface Sent {
  to: string
  text: string
  at: number
}

export async function messageLoad(random: () => number) {
  const sent: Sent[] = []
  const kills: number[] = []
  const model = await startModelServer(async ({ body }) => {
    const { messages = [] } = Object(body) as { messages?: { content: string }[] }
    // All of the question, so that an answer tells what it covers.
    const lines = /m\d+ of \d+(?:\n|$)/g
    const asked = [...String(messages.at(-1)?.content ?? '').matchAll(lines)].map(([line]) => line.trim())
    return { stream: slowly(openaiText('To ', asked.join(' and ')), random()) }
  })
  const note = (to: unknown, text: unknown) =>
    sent.push({ to: String(to), text: String(text), at: performance.now() })
  const telegram = await startTelegramServer(({ body }) => note(body.chat_id, body.text))
  const whatsapp = await startWhatsappServer(({ to, text }) => note(to, text?.body))
  const secret = telegramSecret('default', telegramToken)

  /** Until it is acknowledged, as messengers do. */
  async function deliver(callOf: () => Send, messenger: string, request: MessengerRequest): Promise<void> {
    for (let status = 0; status !== 200; await delay(20))
      status = await callOf()(messenger, request).catch(() => 0)
  }

  async function write(callOf: () => Send, person: number): Promise<void> {
    const isTelegram = person % 2 === 0
    const requests: MessengerRequest[] = []
    for (let n = 0; n < messagesEach; n += 1) {
      const text = `m${n} of ${person}`
      const request = isTelegram
        ? fromTelegram(secret, { update: n * people + person, chat: person + 1, message: n, text })
        : fromWhatsapp(account, { id: `wamid.${person}.${n}`, from: String(person + 1), text, timestamp: n })
      requests.push(request)
      const messenger = isTelegram ? 'telegram' : 'whatsapp'
      await deliver(callOf, messenger, request)
      // One of those so far comes again, and some come at once.
      for (let again = Math.floor(random() * 3); again > 0; again -= 1)
        await deliver(callOf, messenger, requests[Math.floor(random() * requests.length)] ?? request)
      if (random() < 0.6) await delay(random() * maxPause)
    }
  }

  return {
    environment: {
      LEASE_SECONDS: '5',
      OPENAI_COMPATIBLE_BASE_URL: model.url,
      DEFAULT_PROVIDER: 'openai-compatible',
      DEFAULT_MODEL: 'fake-model',
      ...telegram.environment,
      ...whatsapp.environment,
    },

    async begin(call: Call): Promise<void> {
      const settings = { telegram_bot_token: telegramToken, ...whatsappSecrets, channel_senders: 'everyone' }
      expect(await call('PUT', `${agent}/settings`, { body: settings })).toMatchObject({ status: 200 })
    },

    /** Everybody writes all that they have to write, to whichever process is there. */
    async writeAll(urlOf: () => string): Promise<void> {
      const callOf = () => sendTo(urlOf())
      await Promise.all(Array.from({ length: people }, (_, person) => write(callOf, person)))
    },

    killed: () => void kills.push(performance.now()),

    /** Waits until nothing is left to be answered, and compares; returns how many answers were sent twice. */
    async expectAllAnswered(call: Call): Promise<number> {
      const begun = performance.now()
      for (;;) {
        const messages = (await readTalks(call)).flat()
        const questions = messages.filter(({ role }) => role === 'user')
        const delivered = new Set(sent.map(({ text }) => text)).size
        if (linesOf(messages).length >= messageCount && delivered >= questions.length) break
        expect(performance.now() - begun, 'messages wait for too long').toBeLessThan(recoveryLimit)
        await delay(200)
      }
      return expectExact(await readTalks(call), sent, kills)
    },

    async [Symbol.asyncDispose]() {
      for (const server of [model, telegram, whatsapp]) await server[Symbol.asyncDispose]()
    },
  }
}

/** A part of the answers takes so long that a crash leaves a part of them. */
async function* slowly(pieces: readonly string[], chance: number): AsyncGenerator<string> {
  for (const piece of pieces) {
    yield piece
    await delay(chance < 0.2 ? 700 : chance * 100)
  }
}

function sendTo(url: string): Send {
  return async (messenger, { headers, payload }) => {
    const address = `${url}${agent}/channels/${messenger}/webhook`
    return (await fetch(address, { method: 'POST', headers, body: payload })).status
  }
}

/** The messages of each conversation on a channel, in order. */
async function readTalks(call: Call): Promise<ChatMessage[][]> {
  const conversations = ['telegram', 'whatsapp'].map(async channel => {
    const list = `${agent}/chat/conversations?limit=1000&channel=${channel}`
    return (await call<{ conversations: Conversation[] }>('GET', list)).body.conversations
  })
  const messages = (await Promise.all(conversations)).flat().map(async ({ id }) => {
    const list = `${agent}/chat?limit=1000&conversationId=${id}`
    return (await call<MessageList>('GET', list)).body.messages
  })
  return await Promise.all(messages)
}

const linesOf = (messages: readonly ChatMessage[]) =>
  messages.filter(({ role }) => role === 'user').flatMap(({ content }) => content.split('\n'))

/** Every message once and in order, each under one answer, and each answer sent; returns how many were sent again. */
function expectExact(
  talks: readonly ChatMessage[][],
  sent: readonly Sent[],
  kills: readonly number[],
): number {
  expect(talks).toHaveLength(people)
  for (const messages of talks) {
    const person = Number(/\d+$/.exec(linesOf(messages)[0] ?? '')?.[0])
    expect(linesOf(messages)).toEqual(Array.from({ length: messagesEach }, (_, n) => `m${n} of ${person}`))
    const questions = messages.filter(({ role }) => role === 'user')
    const answers = questions.map(({ content }) => `To ${content.replaceAll('\n', ' and ')}`)
    expect(messages.map(({ content }) => content)).toEqual(
      questions.flatMap(({ content }, n) => [content, answers[n]]),
    )
    const toPerson = sent.filter(({ to }) => to === String(person + 1)).map(({ text }) => text)
    expect([...new Set(toPerson)]).toEqual(answers)
  }
  const repeated = sent.filter(({ to, text }, index) => {
    const before = sent.slice(0, index).findLast(one => one.to === to && one.text === text)
    if (before === undefined) return false
    const isBetween = kills.some(at => at >= before.at && at <= (sent[index]?.at ?? 0))
    expect(isBetween, `${text} was sent twice without a crash`).toBe(true)
    return true
  })
  return repeated.length
}
