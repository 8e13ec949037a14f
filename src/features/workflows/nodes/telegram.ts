import { Type } from 'typebox'
import type { ChannelsService } from '#features/channels/channels.service.ts'
import { invalid } from '#platform/errors.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { defineNode, nodeData } from '../engine/node-type.ts'
import { exactlyOne } from './exactly-one.ts'

const schema = nodeData({
  contact_id: Type.Optional(Type.String({ maxLength: 100 })),
  chat_id: Type.Optional(Type.String({ maxLength: 100 })),
  text: Type.String({ maxLength: 100_000 }),
})

export interface TelegramSending extends Pick<ChannelsService, 'sendTelegram'> {
  /** Returns the chat in which a contact has written to the agent's bot. */
  telegramChatOf?(agent: AgentHandle, contactId: string): Promise<string | undefined>
}

/** Sends a Telegram message to a chat, or to a contact who has written to the agent's bot. */
export const createTelegram = ({ sendTelegram, telegramChatOf }: TelegramSending) =>
  defineNode(schema, {
    missing: data => exactlyOne(data, ['chat_id', 'contact_id']),
    async run({ agent, data: { contact_id = '', chat_id, text }, key, signal }) {
      const chat = chat_id ?? (await telegramChatOf?.(agent, contact_id))
      if (chat === undefined)
        throw invalid('contact_id', 'names nobody who has written to the bot: they must do so first')
      return { output: await sendTelegram(agent, { chat_id: chat, text }, { key, signal }) }
    },
  })
