/** The real service between a model and messengers on loopback, and agents that people write to there. */
import { expect } from 'vitest'
import type { ChatMessage, Conversation } from '#features/chat/chat.schema.ts'
import { makeAgent } from './agents.ts'
import { type Answer, buildApp, type TestApp } from './build-app.ts'
import { type ChatModel, startChatModel } from './chat-model.ts'
import type { MessageList } from './chat-stage.ts'
import { type ManualClock, manualClock } from './manual-clock.ts'
import { fromTelegram, fromWhatsapp, type MessengerRequest } from './messenger-deliveries.ts'
import { passTime } from './pass-time.ts'
import { startTelegramServer, type TelegramServer } from './telegram-server.ts'
import { startWhatsappServer, type WhatsappServer } from './whatsapp-server.ts'

export interface ChannelAgent {
  id: string
  path: string
  /** The id of its bot. */
  bot: number
  /** What Telegram shows. */
  secret: string
  /** Sends what somebody wrote to the agent's webhook. */
  telegram(
    written: Omit<Parameters<typeof fromTelegram>[1], 'update'> & { update?: number },
    secret?: string,
  ): Promise<Answer>
  whatsapp(...written: Parameters<typeof fromWhatsapp>[1][]): Promise<Answer>
  deliver(messenger: string, request: MessengerRequest): Promise<Answer>
  set(settings: object): Promise<void>
  /** The conversations on a channel, or those held here. */
  conversations(channel?: string): Promise<Conversation[]>
  messages(conversationId: string): Promise<ChatMessage[]>
  /** What there is of a table of the agent. */
  count(table: 'channel_updates' | 'channel_threads' | 'contacts' | 'messages'): Promise<number>
}

export interface ChannelStage extends AsyncDisposable {
  app: TestApp
  clock: ManualClock
  model: ChatModel
  telegram: TelegramServer
  whatsapp: WhatsappServer
  /** An agent with a bot, which is connected, and a number. */
  newAgent(settings?: object): Promise<ChannelAgent>
  /** Lets milliseconds pass, and waits for what is due. */
  pass(duration: number): Promise<void>
}

export const whatsappSecrets = {
  whatsapp_access_token: 'EAAG-access',
  whatsapp_phone_number_id: '10987',
  whatsapp_app_secret: 'app-secret',
  whatsapp_verify_token: 'verify-secret',
}
const whatsappAccount = {
  secret: whatsappSecrets.whatsapp_app_secret,
  phoneNumberId: whatsappSecrets.whatsapp_phone_number_id,
}

/** To be closed by the caller. */
export async function setChannelStage(environment: Record<string, string> = {}): Promise<ChannelStage> {
  const clock = manualClock()
  const model = await startChatModel()
  const telegram = await startTelegramServer()
  const whatsapp = await startWhatsappServer()
  const app = await buildApp({
    clock,
    environment: {
      ...model.environment,
      ...telegram.environment,
      ...whatsapp.environment,
      BASE_URL: 'https://agents.example',
      DEV_USER: 'dev@example.com',
      OUTBOUND_ALLOW: '127.0.0.1',
      ...environment,
    },
  })
  let bots = 0
  let updates = 0

  async function newAgent(settings: object = {}): Promise<ChannelAgent> {
    const id = await makeAgent(app)
    const path = `/api/agents/${id}`
    const bot = ++bots
    const set = async (changes: object) =>
      expect(await app.call('PUT', `${path}/settings`, { body: changes })).toMatchObject({ status: 200 })
    await set({ telegram_bot_token: `${bot}:AAE-bot`, ...whatsappSecrets, ...settings })
    expect(await app.call('POST', `${path}/channels/telegram/connect`)).toMatchObject({ status: 200 })
    const secret = telegram.webhook()?.secret_token ?? ''
    const deliver = (messenger: string, request: MessengerRequest) =>
      app.call('POST', `${path}/channels/${messenger}/webhook`, request)
    return {
      id,
      path,
      bot,
      secret,
      set,
      deliver,
      telegram({ update = ++updates, ...written }, shown = secret) {
        return deliver('telegram', fromTelegram(shown, { update, ...written }))
      },
      whatsapp: (...written) => deliver('whatsapp', fromWhatsapp(whatsappAccount, ...written)),
      async conversations(channel) {
        const query = channel === undefined ? '' : `?channel=${channel}`
        const list = `${path}/chat/conversations${query}`
        return (await app.call<{ conversations: Conversation[] }>('GET', list)).body.conversations
      },
      async messages(conversationId) {
        const list = `${path}/chat?limit=1000&conversationId=${conversationId}`
        return (await app.call<MessageList>('GET', list)).body.messages
      },
      count: table =>
        app.service.infrastructure.agentDatabases.use(id, async ({ db }) => {
          const rows = await db.selectFrom(table).selectAll().execute()
          return rows.length
        }),
    }
  }

  return {
    app,
    clock,
    model,
    telegram,
    whatsapp,
    newAgent,
    pass: duration => passTime(app, clock, duration),
    async [Symbol.asyncDispose]() {
      await app.close()
      for (const server of [model, telegram, whatsapp]) await server[Symbol.asyncDispose]()
    },
  }
}
