import type { SettingsService } from '#features/agents/settings.service.ts'
import type { Infrastructure } from '#infrastructure/infrastructure.ts'
import { AppError } from '#platform/errors.ts'
import type { Outbound } from '#platform/outbound/outbound.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { addressOf } from './channels.repository.ts'
import type { ChannelName, Channels, Messenger } from './channels.schema.ts'
import { downloadFromTelegram, downloadFromWhatsapp, type Limits } from './incoming/download.ts'
import { telegramSecret } from './incoming/telegram-update.ts'
import type { Press } from './incoming.service.ts'
import type { Delivery } from './outgoing/call-api.ts'
import { type Mail, sendMail } from './outgoing/mail.ts'
import { sendParts } from './outgoing/send-parts.ts'
import { answerPress, type Bot, callBot, type TelegramMessage, telegramParts } from './outgoing/telegram.ts'
import { type WhatsappMessage, type WhatsappNumber, whatsappParts } from './outgoing/whatsapp.ts'

interface Dependencies extends Pick<Infrastructure['configuration'], 'baseUrl' | 'channels'> {
  settings: Pick<SettingsService, 'profileOf'>
  /** The guard's connections to the mail servers of agents, and to files. */
  outbound: Pick<Outbound, 'connect' | 'fetchFunction'>
}

/** An e-mail address, a chat or a number. */
interface Addressee {
  channel: ChannelName
  address: string
}

/** Timeout of a messenger's answer to a status query (ms). */
const statusTimeoutMs = 5_000

/** Sends by agents' accounts. @throws AppError CHANNEL_NOT_CONFIGURED, or CHANNEL_FAILED, even permanent */
export function createChannelsService(dependencies: Dependencies) {
  const send = createSending(dependencies)
  return { ...send, ...manageChannels(dependencies, send) }
}

export type ChannelsService = ReturnType<typeof createChannelsService>

function createSending({ channels, settings, outbound }: Dependencies) {
  async function botOf(agentId: string): Promise<Bot> {
    const { telegram_bot_token: token } = (await settings.profileOf(agentId)).credentials
    if (token === undefined) throw notConfigured('Telegram is not set up: set telegram_bot_token.')
    return { base: channels.telegramBase, token }
  }

  async function numberOf(agentId: string): Promise<WhatsappNumber> {
    const { credentials } = await settings.profileOf(agentId)
    const { whatsapp_access_token: token, whatsapp_phone_number_id: phoneNumberId } = credentials
    if (!token || !phoneNumberId)
      throw notConfigured('WhatsApp is not set up: set whatsapp_access_token and whatsapp_phone_number_id.')
    return { base: channels.whatsappBase, token, phoneNumberId }
  }

  async function sendWhatsapp(agent: AgentHandle, message: WhatsappMessage, { key, signal }: Delivery) {
    const parts = whatsappParts(await numberOf(agent.agentId), message, signal)
    return { message_id: await sendParts(agent, key, parts) }
  }

  const { connect } = outbound
  const { mail: server } = channels
  return {
    botOf,

    /** Sends by the operator's own mail server; undefined if there is none. */
    sendPlatformMail: server && ((mail: Mail, delivery: Delivery) => sendMail(server, mail, delivery)),

    /** Returns the chat in which a contact has written to the agent's bot. */
    telegramChatOf: ({ db }: AgentHandle, contactId: string) => addressOf(db, 'telegram', contactId),

    /** Returns the number or id from which a contact has written on WhatsApp. */
    whatsappOf: ({ db }: AgentHandle, contactId: string) => addressOf(db, 'whatsapp', contactId),

    async sendMail({ agentId }: AgentHandle, mail: Mail, delivery: Delivery) {
      const { settings: chosen, credentials } = await settings.profileOf(agentId)
      const { smtp_url: url } = credentials
      const { mail_from: from } = chosen
      if (url && from) return await sendMail({ url, from, connect }, mail, delivery)
      if (url)
        throw notConfigured('Mail is not set up: mail_from must name the sender of mail through smtp_url.')
      if (channels.mail) return await sendMail(channels.mail, mail, delivery)
      throw notConfigured('Mail is not set up: set smtp_url and mail_from.')
    },

    /** Returns the id of the first message if a long text makes several. */
    async sendTelegram(agent: AgentHandle, message: TelegramMessage, { key, signal }: Delivery) {
      const parts = telegramParts(await botOf(agent.agentId), message, signal)
      return { message_id: await sendParts(agent, key, parts), chat_id: message.chat_id }
    },

    /** Returns the same as `sendTelegram`. */
    sendWhatsapp,

    /** Answers a button press. @param said `text` replaces the message on Telegram, which can change it. */
    async answerPress(
      agent: AgentHandle,
      press: Press,
      said: { notice: string; text?: string },
      delivery: Delivery,
    ): Promise<void> {
      if (press.telegram)
        return await answerPress(await botOf(agent.agentId), press.telegram, said, delivery.signal)
      await sendWhatsapp(agent, { to: press.address, text: said.notice }, delivery)
    },

    /** Downloads a file that a person has sent. @throws AppError CHANNEL_FAILED, and the guard's errors */
    download: async (agentId: string, messenger: Messenger, fileId: string, limits: Limits) =>
      messenger === 'telegram'
        ? await downloadFromTelegram(await botOf(agentId), fileId, limits)
        : await downloadFromWhatsapp(await numberOf(agentId), fileId, outbound, limits),
  }
}

function manageChannels(
  { baseUrl, channels, settings }: Dependencies,
  send: ReturnType<typeof createSending>,
) {
  const webhookOf = (agentId: string) => `${baseUrl}/api/agents/${agentId}/channels/telegram/webhook`

  /** Returns true if Telegram has the webhook; null if it does not answer. */
  async function isConnected(agentId: string, caller: AbortSignal): Promise<boolean | null> {
    const signal = AbortSignal.any([caller, AbortSignal.timeout(statusTimeoutMs)])
    const webhook = send
      .botOf(agentId)
      .then(bot => callBot<{ url: string }>(bot, 'getWebhookInfo', {}, signal))
    return await webhook.then(({ url }) => url === webhookOf(agentId)).catch(() => null)
  }

  return {
    async status(agentId: string, signal: AbortSignal): Promise<Channels> {
      const { settings: chosen, credentials } = await settings.profileOf(agentId)
      const { smtp_url, telegram_bot_token: bot, whatsapp_access_token: whatsapp } = credentials
      const isOpen = credentials.whatsapp_app_secret && credentials.whatsapp_verify_token
      return {
        mail: {
          configured: smtp_url ? chosen.mail_from !== undefined : channels.mail !== undefined,
          credentials: smtp_url ? 'agent' : channels.mail ? 'platform' : null,
          connected: false,
        },
        telegram: {
          configured: bot !== undefined,
          credentials: bot ? 'agent' : null,
          connected: bot ? await isConnected(agentId, signal) : false,
        },
        whatsapp: {
          configured: whatsapp !== undefined && credentials.whatsapp_phone_number_id !== undefined,
          credentials: whatsapp ? 'agent' : null,
          connected: isOpen ? null : false,
        },
      }
    },

    /** Sends only a text; mail adds a subject. */
    async say(agent: AgentHandle, { channel, address: to }: Addressee, text: string, delivery: Delivery) {
      const ways = {
        mail: () =>
          send.sendMail(agent, { to: [{ single: to }], subject: 'Test message', body: text }, delivery),
        telegram: () => send.sendTelegram(agent, { chat_id: to, text }, delivery),
        whatsapp: () => send.sendWhatsapp(agent, { to, text }, delivery),
      } satisfies Record<ChannelName, unknown>
      return await ways[channel]()
    },

    /** Registers the webhook at Telegram for messages to the bot; returns its address. */
    async connectTelegram(agentId: string, signal: AbortSignal): Promise<string> {
      if (!baseUrl?.startsWith('https://'))
        throw notConfigured('Telegram delivers to https addresses only: set BASE_URL of the service to one.')
      const bot = await send.botOf(agentId)
      const url = webhookOf(agentId)
      const webhook = {
        url,
        secret_token: telegramSecret(agentId, bot.token),
        allowed_updates: ['message', 'edited_message', 'callback_query'],
      }
      await callBot(bot, 'setWebhook', webhook, signal)
      return url
    },
  }
}

function notConfigured(message: string): AppError {
  return new AppError('CHANNEL_NOT_CONFIGURED', message)
}
