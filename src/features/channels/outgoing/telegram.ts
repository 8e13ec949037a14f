import { AppError } from '#platform/errors.ts'
import { callApi, refused } from './call-api.ts'
import type { Part } from './send-parts.ts'
import { splitText } from './split-text.ts'

export interface Bot {
  base: string
  token: string
}

/** A button below a message. A press delivers its `data`, of at most 64 bytes. */
export interface MessageButton {
  /** At most 20 characters. */
  title: string
  data: string
}

/** Max characters of the text shown after a press. */
const maxNotice = 200

interface Answer<Result> {
  result: Result
  description: string
  parameters: { retry_after?: number }
}

/** Calls a method of the Bot API. @throws AppError CHANNEL_FAILED, with Telegram's `retry_after` */
export async function callBot<Result>(
  { base, token }: Bot,
  method: string,
  body: object,
  signal: AbortSignal,
) {
  if (!/^\d+:[\w-]+$/.test(token))
    throw new AppError(
      'CHANNEL_NOT_CONFIGURED',
      'telegram_bot_token is no token as @BotFather gives it, such as 123456:ABC-DEF. Set it again.',
    )
  const call = { url: `${base}/bot${token}/${method}`, body, signal }
  const { status, answer } = await callApi<Answer<Result>>(call)
  if (status === 200 && answer.result !== undefined) return answer.result
  const isBlocked = status === 403
  throw refused('Telegram', {
    token,
    status,
    description: isBlocked
      ? 'the person has blocked the bot, or has not written to it yet.'
      : answer.description,
    deed: method === 'getFile' ? 'did not give the file' : undefined,
    retryAfter: answer.parameters?.retry_after,
  })
}

export interface TelegramMessage {
  chat_id: string
  text: string
  /** Buttons below the text, or below the last part of a long one. */
  buttons?: readonly MessageButton[] | undefined
}

/** Splits a long text into several messages. */
export function telegramParts(bot: Bot, message: TelegramMessage, signal: AbortSignal): Part[] {
  const { chat_id, text, buttons } = message
  const keyboard = buttons?.map(({ title, data }) => ({ text: title, callback_data: data }))
  return splitText(text).map((part, at, { length }) => async () => {
    const isLast = at === length - 1
    const markup = keyboard && isLast && { reply_markup: { inline_keyboard: [keyboard] } }
    const body = { chat_id, text: part, ...markup }
    return String((await callBot<{ message_id: number }>(bot, 'sendMessage', body, signal)).message_id)
  })
}

/** Shows a text to the person who pressed a button; `text` replaces the message and its buttons. */
export async function answerPress(
  bot: Bot,
  { query, place }: { query: string; place: { chat_id: string; message_id: number } },
  said: { notice: string; text?: string | undefined },
  signal: AbortSignal,
): Promise<void> {
  const notice = { callback_query_id: query, text: said.notice.slice(0, maxNotice), show_alert: true }
  const calls: [string, object][] = [['answerCallbackQuery', notice]]
  if (said.text !== undefined) calls.push(['editMessageText', { ...place, text: said.text }])
  for (const [method, body] of calls)
    await callBot(bot, method, body, signal).catch(error => {
      // A press can only be answered for minutes, and equal texts can't replace each other.
      if (!(error instanceof AppError && error.isPermanent)) throw error
    })
}
