import { createHmac } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Credentials } from '#features/agents/settings.service.ts'
import { requireSecret } from '#platform/http/requests/inbound-webhook.ts'
import { matches } from '#platform/schema-check.ts'
import {
  type Delivery,
  deliveryOf,
  fileAlone,
  type IncomingFile,
  type IncomingMessage,
  noteOf,
  pressData,
  readJson,
  textAt,
} from './incoming-message.ts'

/** The fields in use of a private message from a person to the bot. */
const messageSchema = Type.Object({
  message_id: Type.Integer(),
  from: Type.Object({ is_bot: Type.Literal(false) }),
  chat: Type.Object({ id: Type.Integer(), type: Type.Literal('private') }),
})

const pressSchema = Type.Object({
  id: Type.String(),
  from: Type.Object({ id: Type.Integer() }),
  message: Type.Object({ message_id: Type.Integer(), chat: Type.Object({ id: Type.Integer() }) }),
  data: Type.String(),
})

/** Content of people's messages, by field; the first match counts. */
const contents = new Map([
  ['photo', 'a picture'],
  ['animation', 'an animation'],
  ['video', 'a video'],
  ['video_note', 'a video'],
  ['voice', 'a voice message'],
  ['audio', 'a sound'],
  ['document', 'a file'],
  ['sticker', 'a sticker'],
  ['venue', 'a location'],
  ['location', 'a location'],
  ['contact', 'a contact'],
  ['poll', 'a poll'],
  ['checklist', 'a checklist'],
  ['dice', 'a dice'],
  ['story', 'a story'],
  ['game', 'a game'],
  ['paid_media', 'a paid picture or video'],
])

/** The names of files that come without one. */
const fileNames = new Map([
  ['photo', 'picture.jpg'],
  ['animation', 'animation.mp4'],
  ['video', 'video.mp4'],
  ['video_note', 'video.mp4'],
  ['voice', 'voice message.ogg'],
  ['audio', 'sound.mp3'],
  ['document', 'file'],
])

/** Derives the secret from the token, so that a former bot has another secret and none needs to be stored. */
export function telegramSecret(agentId: string, token: string): string {
  return createHmac('sha256', token).update(`webhook ${agentId}`).digest('base64url')
}

/** @throws AppError UNAUTHORIZED if it does not come from Telegram, or there is no bot */
export function readTelegram(
  { headers, body }: FastifyRequest,
  agentId: string,
  { telegram_bot_token: token = '' }: Credentials,
): Delivery {
  requireSecret(headers['x-telegram-bot-api-secret-token'], token && telegramSecret(agentId, token))
  const update = readJson(body)
  const [botId = ''] = token.split(':')
  return deliveryOf([readUpdate(update, botId)])
}

/** Returns the message, or the kind of an ignored update. */
function readUpdate(update: unknown, botId: string): IncomingMessage | string {
  const {
    update_id: number,
    message,
    edited_message: edited,
    callback_query: query,
    ...others
  } = Object(update)
  if (query !== undefined) return readPress(query, `telegram:${botId}:${number}`)
  const written: unknown = message ?? edited
  if (!Number.isInteger(number) || written === undefined)
    return Object.keys(others).join(', ') || 'update without a message'
  if (!matches(messageSchema, written))
    return `message in a ${textAt(written, 'chat', 'type') || 'chat'}, or of no person`
  const username = textAt(written, 'from', 'username')
  const names = ['first_name', 'last_name'].map(name => textAt(written, 'from', name))
  const file = fileOf(written)
  const text = contentOf(written, file)
  if (text === '') return `message with ${Object.keys(written).join(', ')}`
  return {
    // Other bots have the same numbers.
    id: `telegram:${botId}:${number}`,
    address: String(written.chat.id),
    name: names.join(' '),
    identity: username === '' ? {} : { messenger_handle: username },
    position: written.message_id,
    text,
    file,
    isEdit: message === undefined,
  }
}

function readPress(query: unknown, id: string): IncomingMessage | string {
  if (!matches(pressSchema, query) || !pressData.test(query.data)) return 'callback_query'
  const { from, message, data } = query
  const place = { chat_id: String(message.chat.id), message_id: message.message_id }
  const sender = { address: String(from.id), name: '', identity: {} }
  return {
    id,
    ...sender,
    position: undefined,
    text: '',
    press: { data, telegram: { query: query.id, place } },
  }
}

/** Returns the file of a message; of a picture's several sizes, the largest. */
function fileOf(message: object): IncomingFile | undefined {
  const field = fileNames.keys().find(name => Object.hasOwn(message, name)) ?? ''
  const givenContent: unknown = Object(message)[field]
  const file: unknown = Array.isArray(givenContent) ? givenContent.at(-1) : givenContent
  const id = textAt(file, 'file_id')
  const name = textAt(file, 'file_name') || (fileNames.get(field) ?? '')
  return id === '' ? undefined : { id, name, content: contents.get(field) ?? '' }
}

/** Returns an empty text for ignored content. */
function contentOf(message: object, file: IncomingFile | undefined): string {
  const text = textAt(message, 'text') || textAt(message, 'caption')
  if (text.trim() !== '') return text
  if (file !== undefined) return fileAlone
  const field = contents.keys().find(name => Object.hasOwn(message, name))
  if (field === undefined) return ''
  const place = ['latitude', 'longitude'].map(name => textAt(message, 'location', name))
  const named = ['title', 'address'].map(name => textAt(message, 'venue', name))
  return noteOf(contents.get(field) ?? '', [...named, ...place].filter(one => one !== '').join(', '))
}
