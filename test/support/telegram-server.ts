/** Telegram's Bot API as far as bots of agents use it: what it refuses, the real one refuses. */
import { type RecordedRequest, type Reply, startModelServer } from './model-server.ts'

export interface TelegramCall {
  token: string
  method: string
  body: Record<string, unknown>
}

export interface TelegramServer extends AsyncDisposable {
  url: string
  /** Environment variables that make it the Telegram of the service. */
  environment: Record<string, string>
  /** Answers the next calls so, in this order, instead of performing them. */
  next(...replies: Reply[]): void
  /** Every call so far, in order; of one method only, if it is given. */
  calls(method?: string): TelegramCall[]
  /** What `setWebhook` was told last. */
  webhook(): { url: string; secret_token?: string } | undefined
}

/** @param taken is called with each message that it has taken. */
export async function startTelegramServer(
  taken: (call: TelegramCall) => void = () => {},
): Promise<TelegramServer> {
  const laid: Reply[] = []
  let webhook: { url: string; secret_token?: string } | undefined
  let sent = 0

  function perform(call: TelegramCall): Reply {
    const { method, body } = call
    if (method === 'sendMessage') {
      const problem = problemOf(String(body.text ?? '')) ?? problemIn(body.reply_markup)
      if (problem !== undefined) return telegramRefusal(400, `Bad Request: ${problem}`)
      sent += 1
      taken(call)
      return done({ message_id: sent, date: 0, chat: { id: Number(body.chat_id) }, text: body.text })
    }
    if (method === 'answerCallbackQuery' || method === 'editMessageText') return done(true)
    if (method === 'setWebhook') {
      webhook = body as { url: string }
      return done(true)
    }
    if (method === 'getWebhookInfo') return done({ url: webhook?.url ?? '', pending_update_count: 0 })
    return telegramRefusal(404, 'Not Found')
  }

  const server = await startModelServer(request => laid.shift() ?? perform(callOf(request)))
  return {
    url: server.url,
    environment: { TELEGRAM_API_BASE: server.url },
    next: (...replies) => laid.push(...replies),
    calls: method =>
      server.requests.map(callOf).filter(call => method === undefined || call.method === method),
    webhook: () => webhook,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

/** An error as Telegram answers it. */
export function telegramRefusal(status: number, description: string, parameters?: object): Reply {
  return { status, json: { ok: false, error_code: status, description, ...(parameters && { parameters }) } }
}

function done(result: unknown): Reply {
  return { json: { ok: true, result } }
}

function problemOf(text: string): string | undefined {
  if (text.trim() === '') return 'message text is empty'
  return text.length > 4096 ? 'message is too long' : undefined
}

function problemIn(markup: unknown): string | undefined {
  const keyboard: { callback_data: string }[][] = Object(markup).inline_keyboard ?? []
  const isTooLong = keyboard.flat().some(({ callback_data: data }) => !/^.{1,64}$/.test(data))
  return isTooLong ? 'BUTTON_DATA_INVALID' : undefined
}

function callOf({ path, body }: RecordedRequest): TelegramCall {
  const [, token = '', method = ''] = /^\/bot([^/]*)\/(\w*)$/.exec(path) ?? []
  return { token, method, body: Object(body) }
}
