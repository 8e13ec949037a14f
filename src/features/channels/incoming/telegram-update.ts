import { createHmac } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Credentials } from '#features/agents/settings.service.ts'
import { requireSecret } from '#platform/http/requests/inbound-webhook.ts'
import { matches } from '#platform/schema-check.ts'
import type { IncomingMessage } from './incoming-message.ts'
import { readJson } from './incoming-message.ts'

/** As far as it is of a person who writes to the bot alone. */
const updateSchema = Type.Object({
  update_id: Type.Integer(),
  message: Type.Object({
    message_id: Type.Integer(),
    from: Type.Object({
      is_bot: Type.Literal(false),
      first_name: Type.String(),
      last_name: Type.Optional(Type.String()),
      username: Type.Optional(Type.String()),
    }),
    chat: Type.Object({ id: Type.Integer(), type: Type.Literal('private') }),
    text: Type.Optional(Type.String()),
    caption: Type.Optional(Type.String()),
  }),
})

/** Derived from the token, so that a former bot of the agent has another one and none needs to be stored. */
export function telegramSecret(agentId: string, token: string): string {
  return createHmac('sha256', token).update(`webhook ${agentId}`).digest('base64url')
}

/** @throws AppError UNAUTHORIZED if it does not come from Telegram, or there is no bot */
export function readTelegram(
  { headers, body }: FastifyRequest,
  agentId: string,
  { telegram_bot_token: token = '' }: Credentials,
): IncomingMessage[] {
  requireSecret(headers['x-telegram-bot-api-secret-token'], token && telegramSecret(agentId, token))
  const update = readJson(body)
  if (!matches(updateSchema, update)) return []
  const { message_id: position, from, chat, text, caption = '' } = update.message
  const [botId] = token.split(':')
  return [
    {
      // Other bots have the same numbers.
      id: `telegram:${botId}:${update.update_id}`,
      address: String(chat.id),
      name: `${from.first_name} ${from.last_name ?? ''}`,
      identity: from.username === undefined ? {} : { messenger_handle: from.username },
      position,
      text: text ?? caption,
    },
  ]
}
