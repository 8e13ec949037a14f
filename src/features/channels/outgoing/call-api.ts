import { AppError } from '#platform/errors.ts'
import { createSecretFilter } from '#platform/outbound/hide-secrets.ts'
import { toOutboundError } from '#platform/outbound/outbound-failure.ts'

/** How one message is sent. */
export interface Delivery {
  /** Stays the same when the message is sent again. */
  key: string
  signal: AbortSignal
}

export interface ApiCall {
  /** May hold the token. */
  url: string
  headers?: Record<string, string>
  body: object
  signal: AbortSignal
}

const timeoutMs = 30_000

/**
 * Posts to the API of a messenger, whose address the operator has chosen. Its errors hold neither the address nor
 * the error underneath, which may quote it.
 */
export async function callApi<Body extends object>({ url, headers, body, signal }: ApiCall) {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    })
    const answer: Partial<Body> = Object(await response.json().catch(() => undefined))
    return { status: response.status, answer }
  } catch (error) {
    signal.throwIfAborted()
    throw new AppError('CHANNEL_FAILED', toOutboundError(error, new URL(url).host).message)
  }
}

interface Refusal {
  token: string
  status: number
  /** In the messenger's words. */
  description: string | undefined
  /** Seconds. */
  retryAfter?: number | undefined
  /** In the place of not taking a message. */
  deed?: string | undefined
  /** Whether it may pass although the status does not say so. */
  isPassing?: boolean
}

/** Whether what a messenger refuses with this status may succeed later. */
export function mayPass(status: number): boolean {
  return status === 408 || status === 429 || status >= 500
}

/** The error of a message that a messenger has not taken. */
export function refused(
  messenger: string,
  { token, status, description, retryAfter, isPassing, deed = 'did not take the message' }: Refusal,
): AppError {
  const reason =
    description === undefined ? `it answered with status ${status}` : createSecretFilter([token])(description)
  return new AppError('CHANNEL_FAILED', `${messenger} ${deed}: ${reason}`, {
    isPermanent: !(isPassing || mayPass(status) || status < 300),
    ...(retryAfter === undefined ? {} : { details: { retry_after: retryAfter } }),
  })
}
