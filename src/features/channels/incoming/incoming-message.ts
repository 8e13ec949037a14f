import { maxMessageLength } from '#features/chat/chat.feature.ts'
import { AppError } from '#platform/errors.ts'

/** A file of a message, which the messenger stores for a while. */
export interface IncomingFile {
  /** The messenger's id. */
  id: string
  name: string
  /** A description in the words of `noteOf`. */
  content: string
}

/** A message that a person wrote on a messenger. */
export interface IncomingMessage {
  /** Identical in repeated deliveries. */
  id: string
  address: string
  /** Another address, by which the messenger identifies the person even if it hides the first. */
  userId?: string
  name: string
  /** The fields that identify the contact. */
  identity: { messenger_handle?: string; messenger_number?: string; phone?: string; external_id?: string }
  /** Order among the messages of the person; defaults to the time of arrival in seconds. */
  position: number | undefined
  text: string
  file?: IncomingFile | undefined
  /** True if it replaces the text of the message at its position. */
  isEdit?: boolean
  /** Set for the press of a button below a message of an agent. */
  press?: { data: string; telegram?: TelegramPress }
}

/** Telegram's ids of a press, and of the message with the button. */
export interface TelegramPress {
  query: string
  place: { chat_id: string; message_id: number }
}

/** The form of the data in buttons of notices: see `src/features/notices`. */
export const pressData = /^[yn]\.[\w-]{1,40}\.[\w-]{22}$/

/** The text of a message that only contains a file. */
export const fileAlone = ' '

/** The messages of a delivery, and the kinds of ignored ones, for the log. */
export interface Delivery {
  messages: IncomingMessage[]
  ignored: string[]
}

/** Separates messages from the kinds of ignored ones. */
export function deliveryOf(read: readonly (IncomingMessage | string)[]): Delivery {
  return {
    messages: read.filter(one => typeof one !== 'string'),
    ignored: read.filter(one => typeof one === 'string'),
  }
}

/** Returns a text for content without text, so that it is answered, too. */
export function noteOf(content: string, details = ''): string {
  return `[The person sent ${content}, which cannot be shown here.${details && ` ${details}`}]`
}

/** Returns a text or number at a path of foreign JSON as text; empty if there is none. */
export function textAt(value: unknown, ...path: string[]): string {
  const found = path.reduce((outer, name) => Object(outer)[name], value)
  return typeof found === 'string' || typeof found === 'number' ? String(found) : ''
}

/** Returns the JSON of a body, with storable texts, several of which fit into one message. */
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
