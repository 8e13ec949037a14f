import { AppError } from '#platform/errors.ts'
import { createSecretFilter } from '#platform/outbound/hide-secrets.ts'
import { toOutboundError } from '#platform/outbound/outbound-failure.ts'

/** The context of one sent message. */
export interface Delivery {
  /** Identical if the message is sent again. */
  key: string
  signal: AbortSignal
}

export interface ApiCall {
  /** The address; can contain the token. */
  url: string
  headers?: Record<string, string>
  body: object
  signal: AbortSignal
}

const timeoutMs = 30_000

/**
 * Posts to the API of a messenger, whose address the operator has chosen. Its errors contain neither the
 * address nor the underlying error, which might quote it.
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
  /** The messenger's own words. */
  description: string | undefined
  /** Seconds. */
  retryAfter?: number | undefined
  /** Replaces "did not take the message". */
  deed?: string | undefined
  /** True if it can be temporary although the status does not show it. */
  isPassing?: boolean
}

/** Returns true if a retry after this status can succeed. */
export function mayPass(status: number): boolean {
  return status === 408 || status === 429 || status >= 500
}

/** Returns the error of a message that a messenger has refused. */
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
