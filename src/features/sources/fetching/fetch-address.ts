/** Fetches the document at a URL: a GET through the outbound guard with retries, read only if changed. */
import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '#platform/errors.ts'
import type { Outbound, OutboundResponse } from '#platform/outbound/outbound.ts'
import { retryAfter } from '#platform/outbound/retry-after.ts'
import { bareType, formatOfContent } from './content-format.ts'
import { fetchLimits } from './fetch-limits.ts'
import type { Validators } from './last-copy.ts'
import type { Fetched } from './parse-fetched.ts'

export type Answered =
  | { kind: 'content'; fetched: Fetched; validators: Validators }
  | { kind: 'unchanged' }
  /** `reason` is a sentence for the author of the address. */
  | { kind: 'failed'; reason: string }

interface Address {
  url: string
  headers: Record<string, string>
  /** Names of headers that are only sent to the address's origin. */
  secretHeaders: readonly string[]
  /** Validators of the current content; undefined to fetch it in any case. */
  known: Validators | undefined
}

interface Dependencies {
  outbound: Pick<Outbound, 'fetch'>
  maxBytes: number
  signal: AbortSignal
}

const accept =
  'application/json, text/csv, text/markdown, text/html;q=0.9, text/plain;q=0.9, application/pdf;q=0.8, */*;q=0.5'

export async function fetchAddress(address: Address, dependencies: Dependencies): Promise<Answered> {
  const answer = await requestUntilAnswered(address, dependencies)
  if (typeof answer === 'string') return { kind: 'failed', reason: answer }
  if (answer.status !== 304) return readAnswer(answer)
  if (address.known?.url === answer.url) return { kind: 'unchanged' }
  // An unchanged copy is not a new one.
  return address.known === undefined
    ? { kind: 'failed', reason: 'The address answered that nothing has changed, without being asked that.' }
    : await fetchAddress({ ...address, known: undefined }, dependencies)
}

/** Returns the last answer, or the reason why there is none. */
async function requestUntilAnswered(
  address: Address,
  dependencies: Dependencies,
): Promise<OutboundResponse | string> {
  for (let attempt = 0; ; attempt += 1) {
    const answer = await requestOnce(address, dependencies)
    const pause = fetchLimits.retryPausesMs[attempt]
    const delayMs = pause === undefined ? undefined : pauseBefore(answer, pause)
    if (delayMs === undefined) return answer instanceof AppError ? answer.message : answer
    await delay(delayMs, undefined, { signal: dependencies.signal })
  }
}

async function requestOnce(
  { url, headers, secretHeaders, known }: Address,
  { outbound, maxBytes, signal }: Dependencies,
): Promise<OutboundResponse | AppError> {
  try {
    return await outbound.fetch(url, {
      headers: { ...conditions(known), accept, ...lowerCased(headers) },
      secretHeaders,
      timeoutMs: fetchLimits.requestMs,
      maxBytes,
      signal,
    })
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof AppError && error.fault !== 'unexpected') return error
    throw error
  }
}

/** Lower-cases names, so that ours replace others of the same name. */
function lowerCased(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

function conditions(known: Validators | undefined): Record<string, string> {
  return {
    ...(known?.etag != null && { 'if-none-match': known.etag }),
    ...(known?.lastModified != null && { 'if-modified-since': known.lastModified }),
  }
}

/** Returns the delay before a retry (ms); undefined if a retry makes no sense. */
function pauseBefore(answer: OutboundResponse | AppError, pause: number): number | undefined {
  // Broken connections have a cause; answers that are too large or too slow would be so again.
  if (answer instanceof AppError)
    return answer.code === 'OUTBOUND_FAILED' && answer.cause !== undefined ? pause : undefined
  if (answer.status !== 429 && answer.status < 500) return undefined
  const delayMs = retryAfter(answer.headers.get('retry-after'), Date.now()) ?? pause
  return delayMs > fetchLimits.retryAfterMs ? undefined : Math.max(pause, delayMs)
}

function readAnswer({ status, headers, url, body }: OutboundResponse): Answered {
  const reason = refusalOf(status)
  if (reason !== undefined) return { kind: 'failed', reason }
  if (body.length === 0) return { kind: 'failed', reason: 'The address answered without any content.' }
  const contentType = headers.get('content-type') ?? ''
  const format = formatOfContent(contentType, url)
  if (format === undefined) return { kind: 'failed', reason: unreadable(bareType(contentType)) }
  return {
    kind: 'content',
    fetched: { bytes: body, format, contentType, url },
    validators: { etag: headers.get('etag'), lastModified: headers.get('last-modified'), url },
  }
}

function refusalOf(status: number): string | undefined {
  if (status >= 200 && status <= 299) return undefined
  const answer = `The address answered with status ${status}`
  if (status === 401 || status === 403)
    return `${answer}: it does not let this request in. Check the headers that the source was created with.`
  if (status === 404 || status === 410) return `${answer}: there is nothing there. Check the address.`
  return `${answer}.`
}

function unreadable(type: string): string {
  const problem =
    type === '' || type === 'application/octet-stream'
      ? 'does not tell the type of its content'
      : `answered with the type ${type.slice(0, 100)}, which cannot be read`
  return `The address ${problem}. Readable are JSON, CSV, text, Markdown, HTML, PDF and DOCX.`
}
