import { AppError } from '#platform/errors.ts'
import type { Outbound } from '#platform/outbound/outbound.ts'
import { toOutboundError } from '#platform/outbound/outbound-failure.ts'
import { readBody } from '#platform/outbound/response-body.ts'
import { mayPass } from '../outgoing/call-api.ts'
import { type Bot, callBot } from '../outgoing/telegram.ts'
import type { WhatsappNumber } from '../outgoing/whatsapp.ts'
import { textAt } from './incoming-message.ts'

/** Timeout for the whole file (ms). */
const timeoutMs = 60_000
/** Max bytes of WhatsApp's description of a file. */
const maxDescription = 64 * 1024

export interface Limits {
  maxBytes: number
  signal: AbortSignal
}

/** @throws AppError CHANNEL_FAILED, also for a larger file; permanent unless a retry can succeed */
export async function downloadFromTelegram(bot: Bot, fileId: string, limits: Limits): Promise<Uint8Array> {
  const file = await callBot<object>(bot, 'getFile', { file_id: fileId }, limits.signal)
  const path = textAt(file, 'file_path')
  if (!/^[\w-][\w./-]*$/.test(path) || path.includes('..')) throw notGot('Telegram did not say where it is.')
  return await get(`${bot.base}/file/bot${bot.token}/${path}`, {}, limits)
}

/** Downloads like `downloadFromTelegram`. Another host's file is reached through the guard. */
export async function downloadFromWhatsapp(
  { base, token }: Pick<WhatsappNumber, 'base' | 'token'>,
  fileId: string,
  outbound: Pick<Outbound, 'fetchFunction'>,
  limits: Limits,
): Promise<Uint8Array> {
  const headers = { authorization: `Bearer ${token}` }
  const description = await get(`${base}/${encodeURIComponent(fileId)}`, headers, {
    ...limits,
    maxBytes: maxDescription,
  })
  const url = urlIn(description)
  if (url?.origin === new URL(base).origin) return await get(url.href, headers, limits)
  if (url?.protocol !== 'https:') throw notGot('WhatsApp did not say where it is.')
  const guarded = outbound.fetchFunction({ secretHeaders: Object.keys(headers) })
  return await get(url.href, headers, limits, request => guarded(url, { ...request, redirect: 'follow' }))
}

function urlIn(description: Uint8Array): URL | null {
  try {
    return URL.parse(textAt(JSON.parse(new TextDecoder().decode(description)), 'url'))
  } catch {
    return null
  }
}

type Send = (request: RequestInit) => Promise<Response>

/** Reads from the messenger, as the operator has configured it. Errors omit the address and its token. */
async function get(
  url: string,
  headers: Record<string, string>,
  { maxBytes, signal }: Limits,
  send: Send = request => fetch(url, request),
) {
  try {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
    const { status, body } = await send({ headers, redirect: 'manual', signal: limited })
    if (status !== 200) throw notGot(`The messenger answered with status ${status}.`, !mayPass(status))
    const bytes = await readBody(body, maxBytes)
    if (bytes === undefined) throw notGot(`It is larger than the ${maxBytes} bytes that are accepted.`)
    return bytes
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof AppError) throw error
    throw notGot(toOutboundError(error, new URL(url).host).message, false)
  }
}

function notGot(reason: string, isPermanent = true): AppError {
  return new AppError('CHANNEL_FAILED', reason, { isPermanent })
}
