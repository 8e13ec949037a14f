import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Credentials } from '#features/agents/settings.service.ts'
import { verifiedBody } from '#platform/http/requests/inbound-webhook.ts'
import { spellingsOf } from '#platform/phone-number.ts'
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

const maxIdLength = 400

/** Content of people's messages, by type. */
const contents = new Map([
  ['image', 'a picture'],
  ['video', 'a video'],
  ['audio', 'a voice message or sound'],
  ['document', 'a file'],
  ['sticker', 'a sticker'],
  ['location', 'a location'],
  ['contacts', 'a contact'],
  ['order', 'an order'],
  ['unsupported', 'a kind of message that WhatsApp does not pass on'],
])

/** @throws AppError UNAUTHORIZED if it does not come from WhatsApp, or there is no app secret */
export function readWhatsapp(
  request: FastifyRequest,
  _agentId: string,
  { whatsapp_app_secret: secret, whatsapp_phone_number_id: phoneNumberId = '' }: Credentials,
): Delivery {
  const payload = readJson(verifiedBody(request, { header: 'x-hub-signature-256', name: 'sha256', secret }))
  const read = listAt(payload, 'entry')
    .flatMap(entry => listAt(entry, 'changes'))
    .map(change => Object(change).value)
    .flatMap(value => {
      const isOurs = ['', phoneNumberId].includes(textAt(value, 'metadata', 'phone_number_id'))
      return listAt(value, 'messages').map(message =>
        isOurs ? readMessage(message, listAt(value, 'contacts')) : 'message to another number',
      )
    })
  return deliveryOf(read)
}

/** Returns the message, or the kind of an ignored one. */
function readMessage(message: unknown, contacts: readonly unknown[]): IncomingMessage | string {
  const [only] = contacts.length === 1 ? contacts : []
  const from = textAt(message, 'from') || textAt(only, 'wa_id')
  const number = /^\+?(\d{1,20})$/.exec(from)?.[1] ?? ''
  const ids = ['from_user_id', 'user_id', 'from'].map(name => textAt(message, name)).filter(one => one !== '')
  const contact = senderIn(contacts, number, ids)
  const userId = ids.find(one => one !== from) ?? textAt(contact, 'user_id')
  const id = userId || (number === '' ? from : '')
  const type = textAt(message, 'type')
  if (textAt(message, 'group_id') !== '') return 'message in a group'
  if (number === '' && (id === '' || id.length > maxIdLength)) return `${type} without a sender`
  const file = fileOf(message, type)
  const text = contentOf(message, type, file)
  if (text === '') return type || 'message without a type'
  const [seconds] = /^\d{1,12}$/.exec(textAt(message, 'timestamp')) ?? []
  return {
    id: `whatsapp:${idOf(message)}`,
    address: number || id,
    ...(id !== '' && { userId: id }),
    name: textAt(contact, 'profile', 'name') || textAt(contact, 'profile', 'username'),
    identity: number === '' ? { external_id: id } : { messenger_number: `+${number}`, phone: `+${number}` },
    position: seconds === undefined ? undefined : Number(seconds),
    text,
    file,
    ...pressOf(message),
  }
}

function pressOf(message: unknown): Pick<IncomingMessage, 'press'> {
  const data = textAt(message, 'interactive', 'button_reply', 'id')
  return pressData.test(data) ? { press: { data } } : {}
}

/** The names of files that come without one. */
const fileNames = new Map([
  ['image', 'picture.jpg'],
  ['video', 'video.mp4'],
  ['audio', 'voice message.ogg'],
  ['document', 'file'],
])

function fileOf(message: unknown, type: string): IncomingFile | undefined {
  const name = textAt(message, type, 'filename') || fileNames.get(type)
  const id = textAt(message, type, 'id')
  if (name === undefined || id === '' || id.length > maxIdLength) return undefined
  return { id, name, content: contents.get(type) ?? '' }
}

/** Returns the sender, not another person in the same delivery. @param ids of the message */
function senderIn(contacts: readonly unknown[], number: string, ids: readonly string[]): unknown {
  const numberOf = (one: unknown) => textAt(one, 'wa_id').replace('+', '')
  const isSender = (one: unknown) =>
    ids.includes(textAt(one, 'user_id')) ||
    (number !== '' && spellingsOf(numberOf(one))[0] === spellingsOf(number)[0])
  const isOnly = contacts.length === 1 && (number === '' || numberOf(contacts[0]) === '')
  return contacts.find(isSender) ?? (isOnly ? contacts[0] : undefined)
}

/** Returns an empty text for ignored content. */
function contentOf(message: unknown, type: string, file: IncomingFile | undefined): string {
  const texts = [
    textAt(message, 'text', 'body'),
    textAt(message, 'button', 'text') || textAt(message, 'button', 'payload'),
    ...['button_reply', 'list_reply'].map(reply => textAt(message, 'interactive', reply, 'title')),
    textAt(message, 'interactive', 'nfm_reply', 'response_json'),
    ...['image', 'video', 'document'].map(kind => textAt(message, kind, 'caption')),
  ]
  const text = texts.find(one => one.trim() !== '')
  if (text !== undefined) return text
  if (file !== undefined) return fileAlone
  const content = contents.get(type)
  if (content === undefined) return ''
  const place = ['name', 'address', 'latitude', 'longitude'].map(name => textAt(message, 'location', name))
  return noteOf(content, place.filter(one => one !== '').join(', '))
}

/** Returns the same id for repeated deliveries. */
function idOf(message: unknown): string {
  const id = textAt(message, 'id')
  if (id !== '' && id.length <= maxIdLength) return id
  return createHash('sha256').update(JSON.stringify(message)).digest('base64')
}

function listAt(value: unknown, name: string): unknown[] {
  const list = Object(value)[name]
  return Array.isArray(list) ? list : []
}
