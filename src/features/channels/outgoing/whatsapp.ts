import { invalid } from '#platform/errors.ts'
import { callApi, refused } from './call-api.ts'
import type { Part } from './send-parts.ts'
import { splitText } from './split-text.ts'
import type { MessageButton } from './telegram.ts'

export interface WhatsappNumber {
  base: string
  token: string
  /** The id of the sending number. */
  phoneNumberId: string
}

export type WhatsappMessage = { to: string } & (
  | {
      text: string /** At most 1,024 characters with buttons. */
      buttons?: readonly MessageButton[] | undefined
    }
  | { template: { name: string; language: string; parameters?: readonly string[] } }
)

interface Answer {
  messages: { id: string }[]
  error: { code?: number; message?: string; error_data?: { details?: string } }
}

/** Codes of limits and of maintenance, which come with status 400, too. */
const passingCodes: readonly unknown[] = [4, 80007, 130429, 131048, 131056, 131057]

const outsideWindow =
  'more than 24 hours have passed since the person last wrote, and until they write again WhatsApp takes approved templates only. Send a template instead of a text.'

/** Max digits of a telephone number, by E.164. */
const maxDigits = 15
/** The id of a person whose number WhatsApp hides, such as `US.13491208655302741918`. */
const userId = /^[A-Za-z]+\.[\w.-]+$/

/** Splits a long text into several messages. */
export function whatsappParts(number: WhatsappNumber, message: WhatsappMessage, signal: AbortSignal): Part[] {
  const recipient = recipientOf(message.to.trim())
  return contentsOf(message).map(
    content => () => post(number, { messaging_product: 'whatsapp', ...recipient, ...content }, signal),
  )
}

function recipientOf(to: string) {
  if (userId.test(to)) return { recipient: to }
  // The zero in brackets is not dialled from abroad.
  const digits = to
    .replace(/(?<=\d ?)\(0\)/, '')
    .replace(/\D/g, '')
    .replace(/^00/, '')
  if (!/^\+?[\d\s()./-]*$/.test(to) || digits.length > maxDigits)
    throw invalid('to', 'must be one number, with its country code')
  return { to: digits }
}

function contentsOf(message: WhatsappMessage): object[] {
  if ('text' in message && message.buttons) {
    const buttons = message.buttons.map(({ title, data }) => ({ type: 'reply', reply: { id: data, title } }))
    const interactive = { type: 'button', body: { text: message.text }, action: { buttons } }
    return [{ type: 'interactive', interactive }]
  }
  if ('text' in message) return splitText(message.text).map(body => ({ type: 'text', text: { body } }))
  const { name, language, parameters = [] } = message.template
  const body = { type: 'body', parameters: parameters.map(text => ({ type: 'text', text })) }
  const components = parameters.length === 0 ? [] : [body]
  return [{ type: 'template', template: { name, language: { code: language }, components } }]
}

async function post({ base, token, phoneNumberId }: WhatsappNumber, body: object, signal: AbortSignal) {
  const url = `${base}/${encodeURIComponent(phoneNumberId)}/messages`
  const headers = { authorization: `Bearer ${token}` }
  const { status, answer } = await callApi<Answer>({ url, headers, body, signal })
  const id = answer.messages?.[0]?.id
  if (status === 200 && id !== undefined) return id
  const { code, message, error_data: data } = answer.error ?? {}
  const description = code === 131047 ? outsideWindow : (data?.details ?? message)
  throw refused('WhatsApp', { token, status, description, isPassing: passingCodes.includes(code) })
}
