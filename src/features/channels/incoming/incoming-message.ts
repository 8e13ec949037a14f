import { maxMessageLength } from '#features/chat/chat.feature.ts'
import { AppError } from '#platform/errors.ts'

/** A message that a person wrote on a messenger. */
export interface IncomingMessage {
  /** The same when it is delivered again. */
  id: string
  address: string
  name: string
  /** The fields that identify the contact. */
  identity: { messenger_handle?: string } | { messenger_number: string; phone: string }
  /** Among the messages of the same person. */
  position: number
  /** Blank for what is no text. */
  text: string
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
