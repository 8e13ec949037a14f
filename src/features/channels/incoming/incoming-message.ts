import { maxMessageLength } from '#features/chat/chat.feature.ts'
import { AppError } from '#platform/errors.ts'

/** A file of a message, which the messenger keeps for a while. */
export interface IncomingFile {
  /** The messenger's. */
  id: string
  name: string
  /** In the words of `noteOf`. */
  content: string
}

/** A message that a person wrote on a messenger. */
export interface IncomingMessage {
  /** The same when it is delivered again. */
  id: string
  address: string
  /** Another one, by which the messenger knows the person also where it hides the first. */
  userId?: string
  name: string
  /** The fields that identify the contact. */
  identity: { messenger_handle?: string; messenger_number?: string; phone?: string; external_id?: string }
  /** Among the messages of the same person; the time of arrival in seconds unless given. */
  position: number | undefined
  text: string
  file?: IncomingFile | undefined
  /** Whether it replaces the text of the message at its position. */
  isEdit?: boolean
  /** It is the press of a button below a message of ours. */
  press?: { data: string; telegram?: TelegramPress }
}

/** How Telegram names a press, and the message with the button. */
export interface TelegramPress {
  query: string
  place: { chat_id: string; message_id: number }
}

/** The form of what buttons of notices deliver: see `src/features/notices`. */
export const pressData = /^[yn]\.[\w-]{1,40}\.[\w-]{22}$/

/** The text of a message that is a file alone. */
export const fileAlone = ' '

/** The messages of a delivery, and the kinds of those that are not read, for the log. */
export interface Delivery {
  messages: IncomingMessage[]
  ignored: string[]
}

/** Sorts messages from the kinds of others. */
export function deliveryOf(read: readonly (IncomingMessage | string)[]): Delivery {
  return {
    messages: read.filter(one => typeof one !== 'string'),
    ignored: read.filter(one => typeof one === 'string'),
  }
}

/** Stands for content that has no text, so that it is answered, too. */
export function noteOf(content: string, details = ''): string {
  return `[The person sent ${content}, which cannot be shown here.${details && ` ${details}`}]`
}

/** A text or number at a path of JSON from outside, as text; empty if there is none. */
export function textAt(value: unknown, ...path: string[]): string {
  const found = path.reduce((outer, name) => Object(outer)[name], value)
  return typeof found === 'string' || typeof found === 'number' ? String(found) : ''
}

/** The JSON of a body, with texts that databases can hold, and of which several fit into one message. */
export function readJson(body: unknown): unknown {
  const clean = (text: string) =>
    text
      .replaceAll('\0', '')
      .toWellFormed()
      .slice(0, maxMessageLength / 2)
  try {
    return JSON.parse(String(body), (_name, value) => (typeof value === 'string' ? clean(value) : value))
  } catch {
    throw new AppError('MALFORMED_JSON', 'The body is not valid JSON.')
  }
}
