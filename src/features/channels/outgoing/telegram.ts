import { AppError } from '#platform/errors.ts'
import { callApi, refused } from './call-api.ts'
import type { Part } from './send-parts.ts'
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
    deed: method === 'getFile' ? 'did not give the file' : undefined,
    retryAfter: answer.parameters?.retry_after,
  })
}

/** A long text makes several messages. */
export function telegramParts(bot: Bot, chat_id: string, text: string, signal: AbortSignal): Part[] {
  return splitText(text).map(part => async () => {
    const body = { chat_id, text: part }
    return String((await callBot<{ message_id: number }>(bot, 'sendMessage', body, signal)).message_id)
  })
}
