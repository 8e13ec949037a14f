import { AppError } from '#platform/errors.ts'
import { callApi, refused } from './call-api.ts'
import { splitText } from './split-text.ts'

export interface Bot {
  base: string
  token: string
}

interface Answer<Result> {
  result: Result
  description: string
  parameters: { retry_after?: number }
}

/** Calls a method of the Bot API. @throws AppError CHANNEL_FAILED, with `retry_after` in its details if Telegram says so */
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
    retryAfter: answer.parameters?.retry_after,
  })
}

/** The id is that of the first message if a long text makes several. */
export async function sendTelegram(
  bot: Bot,
  { chat_id, text }: { chat_id: string; text: string },
  { signal }: { signal: AbortSignal },
): Promise<{ message_id: string; chat_id: string }> {
  const ids: number[] = []
  for (const part of splitText(text)) {
    const sent = await callBot<{ message_id: number }>(bot, 'sendMessage', { chat_id, text: part }, signal)
    ids.push(sent.message_id)
  }
  return { message_id: String(ids[0]), chat_id }
}
