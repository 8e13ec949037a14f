import { AppError } from '#platform/errors.ts'
import { beginningOf } from '../transport/body.ts'
import type { Reply } from '../transport/send.ts'
import { firstOf } from './chunk.ts'

// A static import would load `WebSocket` and the rest of undici, and delay every start.
const { STATUS_CODES } = process.getBuiltinModule('node:http')

interface FailureDetails {
  statusCode?: number
  responseHeaders?: Record<string, string>
  /** The beginning of an error's body. */
  responseBody?: string
  /** The body parsed as JSON, if it is JSON. */
  data?: unknown
  isRetryable?: boolean
  cause?: unknown
}

/** A failed call with the name and fields of the provider packages' errors: `readFailure` reads all. */
export class CallFailure extends Error {
  readonly statusCode: number | undefined
  readonly responseHeaders: Record<string, string> | undefined
  readonly responseBody: string | undefined
  readonly data: unknown
  /** Undefined if the status decides it. */
  readonly isRetryable: boolean | undefined

  constructor(message: string, details: FailureDetails) {
    super(message, { cause: details.cause })
    this.name = 'APICallError'
    this.statusCode = details.statusCode
    this.responseHeaders = details.responseHeaders
    this.responseBody = details.responseBody
    this.data = details.data
    this.isRetryable = details.isRetryable
  }
}

/**
 * Returns the failure of a request without a response. A refusal by the service itself, such as the outbound
 * guard's, is passed on; a failure that the guard reports is the provider's, as without the guard.
 */
export function notReached(error: unknown): unknown {
  if (error instanceof AppError) {
    if (error.code !== 'OUTBOUND_FAILED') return error
    return error.cause === undefined ? new CallFailure(error.message, {}) : notReached(error.cause)
  }
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const isRetryable = !isSilence(error) && !isInvalid(error) && !isInvalid(cause)
  return new CallFailure(`Cannot connect: ${messageOf(cause)}`, { isRetryable, cause: error })
}

/** Returns the failure of an answer that was cut off with its connection. */
export function brokenConnection(error: unknown, statusCode: number): CallFailure {
  const isRetryable = !isSilence(error)
  return new CallFailure('The connection broke', { statusCode, isRetryable, cause: error })
}

/** True if the server does not answer: another attempt would hardly be faster. `fetch` wraps the error. */
function isSilence(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  return [error, cause].some(each => /_(HEADERS|BODY)_TIMEOUT$/.test(codeOf(each)))
}

/** True for a request that cannot be sent, for instance to an invalid address or with an invalid key. */
function isInvalid(error: unknown): boolean {
  return /^(ERR_INVALID_|UND_ERR_INVALID_ARG$)/.test(codeOf(error))
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/** An invalid answer, with the name that the provider packages give it. */
export class UnreadableAnswer extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'InvalidResponseDataError'
  }
}

/** An answer without text and calls; `reason` is its finish reason. */
export class EmptyAnswer extends Error {
  constructor(reason: string) {
    super(`The answer is empty; it ended with ${reason.slice(0, 100)}.`)
    this.name = 'EmptyAnswer'
  }
}

/** Returns the failure of an error status. Only the body's beginning is read, as evidence. */
export async function refusal({ status, headers, body }: Reply): Promise<CallFailure> {
  if (status >= 300 && status <= 399) {
    body.leave()
    // Following the redirect would send keys where they don't belong.
    return new CallFailure('Cannot connect: it redirects', {})
  }
  // A refusal that is cut off is still a refusal.
  const begun = await beginningOf(body, maxBytes).catch(() => undefined)
  const responseBody = Buffer.from(begun?.bytes ?? []).toString('utf8')
  const data = firstOf(parsed(responseBody))
  const message = messageIn(data) ?? STATUS_CODES[status] ?? ''
  return new CallFailure(message, { statusCode: status, responseHeaders: headers, responseBody, data })
}

const maxBytes = 64_000

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

function messageIn(data: unknown): string | undefined {
  const error = typeof data === 'object' && data !== null && 'error' in data ? data.error : undefined
  const message = typeof error === 'object' && error !== null && 'message' in error ? error.message : error
  return typeof message === 'string' ? message : undefined
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
