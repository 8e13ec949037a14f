/** Requests as Telegram and WhatsApp send them to a webhook. */
import { createHmac } from 'node:crypto'

export interface MessengerRequest {
  headers: Record<string, string>
  payload: string
}

interface WrittenOnTelegram {
  update: number
  chat: number
  text?: string | undefined
  /** Within the chat; that of the update unless given. */
  message?: number
  username?: string
  name?: string
  /** Over the fields of the message. */
  fields?: object
  /** Whether it was changed. */
  isEdit?: boolean
}

export function fromTelegram(secret: string, written: WrittenOnTelegram): MessengerRequest {
  const { update, chat, text, message = update, username, name = 'Ann', fields, isEdit } = written
  const from = {
    id: chat,
    is_bot: false,
    first_name: name,
    ...(username && { username }),
    language_code: 'en',
  }
  const whole = { message_id: message, from, chat: { id: chat, type: 'private' }, date: 1_790_000_000, text }
  return {
    headers: { 'content-type': 'application/json', 'x-telegram-bot-api-secret-token': secret },
    payload: JSON.stringify({
      update_id: update,
      [isEdit ? 'edited_message' : 'message']: { ...whole, ...fields },
    }),
  }
}

interface WrittenOnWhatsapp {
  id: string
  from: string
  text: string
  timestamp?: number
  name?: string
  /** Over the fields of the message. */
  fields?: object
  /** Over the fields beside it. */
  value?: object
}

/** Several messages of one delivery. */
export function fromWhatsapp(
  { secret, phoneNumberId }: { secret: string; phoneNumberId: string },
  ...written: WrittenOnWhatsapp[]
): MessengerRequest {
  const changes = written.map(
    ({ id, from, text, timestamp = 1_790_000_000, name = 'Ann', fields, value }) => ({
      field: 'messages',
      value: {
        messaging_product: 'whatsapp',
        metadata: { display_phone_number: '15550001', phone_number_id: phoneNumberId },
        contacts: [{ profile: { name }, wa_id: from }],
        messages: [{ from, id, timestamp: String(timestamp), type: 'text', text: { body: text }, ...fields }],
        ...value,
      },
    }),
  )
  const payload = JSON.stringify({ object: 'whatsapp_business_account', entry: [{ id: '1', changes }] })
  return signed(secret, payload)
}

/** As WhatsApp signs it. */
export function signed(secret: string, payload: string): MessengerRequest {
  const signature = createHmac('sha256', secret).update(payload).digest('hex')
  return {
    headers: { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${signature}` },
    payload,
  }
}

/** A press of a button below message 1 of a chat. */
export function telegramPress(
  secret: string,
  { update, from, data }: { update: number; from: number; data: string },
): MessengerRequest {
  const sender = { id: from, is_bot: false, first_name: 'Ann' }
  const message = { message_id: 1, chat: { id: from, type: 'private' }, date: 1_790_000_000 }
  return {
    headers: { 'content-type': 'application/json', 'x-telegram-bot-api-secret-token': secret },
    payload: JSON.stringify({
      update_id: update,
      callback_query: { id: `q${update}`, from: sender, message, chat_instance: '1', data },
    }),
  }
}
