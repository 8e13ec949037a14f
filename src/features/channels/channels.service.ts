import type { SettingsService } from '#features/agents/settings.service.ts'
import type { Infrastructure } from '#infrastructure/infrastructure.ts'
import { AppError } from '#platform/errors.ts'
import type { Outbound } from '#platform/outbound/outbound.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { ChannelName, Channels } from './channels.schema.ts'
import type { Delivery } from './outgoing/call-api.ts'
import type { Mail } from './outgoing/mail.ts'
import { sendMail } from './outgoing/mail.ts'
import type { Bot } from './outgoing/telegram.ts'
import { sendTelegram } from './outgoing/telegram.ts'
import type { WhatsappMessage } from './outgoing/whatsapp.ts'
import { sendWhatsapp } from './outgoing/whatsapp.ts'

interface Dependencies extends Pick<Infrastructure['configuration'], 'channels'> {
  settings: Pick<SettingsService, 'profileOf'>
  /** The guard's way to the mail servers of agents. */
  connect: Outbound['connect']
}

interface TelegramMessage {
  chat_id: string
  text: string
}

/** Sends by the accounts of agents. @throws AppError CHANNEL_NOT_CONFIGURED, or CHANNEL_FAILED, which may be permanent */
export function createChannelsService(needs: Dependencies) {
  const send = createSending(needs)
  return { ...send, ...manageChannels(needs, send) }
}

export type ChannelsService = ReturnType<typeof createChannelsService>

function createSending({ channels, settings, connect }: Dependencies) {
  async function botOf(agentId: string): Promise<Bot> {
    const { telegram_bot_token: token } = (await settings.profileOf(agentId)).credentials
    if (token === undefined) throw notConfigured('Telegram is not set up: set telegram_bot_token.')
    return { base: channels.telegramBase, token }
  }

  return {
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

    async sendTelegram({ agentId }: AgentHandle, message: TelegramMessage, delivery: Delivery) {
      return await sendTelegram(await botOf(agentId), message, delivery)
    },

    async sendWhatsapp({ agentId }: AgentHandle, message: WhatsappMessage, delivery: Delivery) {
      const { credentials } = await settings.profileOf(agentId)
      const { whatsapp_access_token: token, whatsapp_phone_number_id: phoneNumberId } = credentials
      if (!token || !phoneNumberId)
        throw notConfigured('WhatsApp is not set up: set whatsapp_access_token and whatsapp_phone_number_id.')
      return await sendWhatsapp({ base: channels.whatsappBase, token, phoneNumberId }, message, delivery)
    },
  }
}

function manageChannels({ channels, settings }: Dependencies, send: ReturnType<typeof createSending>) {
  return {
    async status(agentId: string): Promise<Channels> {
      const { settings: chosen, credentials } = await settings.profileOf(agentId)
      const { smtp_url, telegram_bot_token: bot, whatsapp_access_token: whatsapp } = credentials
      return {
        mail: {
          configured: smtp_url ? chosen.mail_from !== undefined : channels.mail !== undefined,
          credentials: smtp_url ? 'agent' : channels.mail ? 'platform' : null,
        },
        telegram: {
          configured: bot !== undefined,
          credentials: bot ? 'agent' : null,
        },
        whatsapp: {
          configured: whatsapp !== undefined && credentials.whatsapp_phone_number_id !== undefined,
          credentials: whatsapp ? 'agent' : null,
        },
      }
    },

    /** Sends a text that says what it is. */
    async test(agent: AgentHandle, channel: ChannelName, to: string, delivery: Delivery) {
      const text = 'This is a test message: your agent can send messages here.'
      const ways = {
        mail: () => send.sendMail(agent, { to, subject: 'Test message', body: text }, delivery),
        telegram: () => send.sendTelegram(agent, { chat_id: to, text }, delivery),
        whatsapp: () => send.sendWhatsapp(agent, { to, text }, delivery),
      } satisfies Record<ChannelName, unknown>
      return await ways[channel]()
    },
  }
}

function notConfigured(message: string): AppError {
  return new AppError('CHANNEL_NOT_CONFIGURED', message)
}
