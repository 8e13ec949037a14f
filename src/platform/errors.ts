import { isMainThread } from 'node:worker_threads'

/**
 * The closed catalogue of errors that callers can meet. An entry is a code, its HTTP status and the party at
 * fault: `user` (the request is wrong), `operational` (something outside failed), `unexpected` (our defect).
 */
const catalogue = {
  VALIDATION_ERROR: { status: 400, fault: 'user' },
  MALFORMED_JSON: { status: 400, fault: 'user' },
  MODEL_UNKNOWN: { status: 400, fault: 'user' },
  IMAGES_UNSUPPORTED: { status: 400, fault: 'user' },
  MODEL_NOT_CONFIGURED: { status: 400, fault: 'user' },
  SCHEMA_MISMATCH: { status: 400, fault: 'operational' },
  TURN_FAILED_AFTER_TOOLS: { status: 400, fault: 'operational' },
  CHANNEL_NOT_CONFIGURED: { status: 400, fault: 'user' },
  UNAUTHORIZED: { status: 401, fault: 'user' },
  PROVIDER_NOT_CONFIGURED: { status: 401, fault: 'user' },
  SIGNATURE_INVALID: { status: 401, fault: 'user' },
  PAYMENT_REQUIRED: { status: 402, fault: 'user' },
  FORBIDDEN: { status: 403, fault: 'user' },
  NOT_FOUND: { status: 404, fault: 'user' },
  CONFLICT: { status: 409, fault: 'user' },
  CONVERSATION_LOCKED: { status: 409, fault: 'user' },
  CONVERSATION_WAITING: { status: 409, fault: 'user' },
  APPROVAL_EXPIRED: { status: 409, fault: 'user' },
  PAYMENT_PENDING: { status: 409, fault: 'user' },
  PAYLOAD_TOO_LARGE: { status: 413, fault: 'user' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, fault: 'user' },
  RANGE_NOT_SATISFIABLE: { status: 416, fault: 'user' },
  ACTION_TIMEOUT: { status: 408, fault: 'user' },
  PROVIDER_REFUSED: { status: 422, fault: 'user' },
  RATE_LIMITED: { status: 429, fault: 'user' },
  TOO_MANY_SESSIONS: { status: 429, fault: 'user' },
  BUDGET_SPENT: { status: 429, fault: 'user' },
  OVERLOADED: { status: 503, fault: 'user' },
  OUTCOME_UNKNOWN: { status: 500, fault: 'operational' },
  SQL_FAILED: { status: 500, fault: 'operational' },
  SQL_UNAVAILABLE: { status: 500, fault: 'operational' },
  MODEL_ERROR: { status: 500, fault: 'operational' },
  OUTBOUND_REFUSED: { status: 400, fault: 'user' },
  BROWSER_FAILED: { status: 500, fault: 'operational' },
  BROWSER_UNAVAILABLE: { status: 500, fault: 'operational' },
  CHANNEL_FAILED: { status: 500, fault: 'operational' },
  TOOL_FAILED: { status: 500, fault: 'operational' },
  WORKFLOW_FAILED: { status: 500, fault: 'operational' },
  OUTBOUND_FAILED: { status: 500, fault: 'operational' },
  IDENTITY_UNAVAILABLE: { status: 500, fault: 'operational' },
  SHUTTING_DOWN: { status: 500, fault: 'operational' },
  DATA_DAMAGED: { status: 500, fault: 'operational' },
  INTERNAL_ERROR: { status: 500, fault: 'unexpected' },
  STORAGE_FULL: { status: 507, fault: 'operational' },
} as const

export type ErrorCode = keyof typeof catalogue
export type Fault = (typeof catalogue)[ErrorCode]['fault']

interface AppErrorOptions {
  /** For machines, such as `{ field, issue }`; sent to the caller. */
  details?: Record<string, unknown>
  /** The error underneath; logged, never sent. */
  cause?: unknown
  /** True if it would fail again until a person corrects the cause; defaults to the user's fault. */
  isPermanent?: boolean
}

/** The cause of an AppError on its way to another thread, where only the message and the cause of an error arrive. */
interface Sent extends AppErrorOptions {
  code: ErrorCode
}

/** An error whose code and message are meant for the caller: the message says what was wrong and what to do. */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly details: Record<string, unknown> | undefined
  readonly isPermanent: boolean

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    const sentOptions: Sent = { ...options, code }
    const cause = isMainThread ? options.cause : sentOptions
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'AppError'
    this.code = code
    this.details = options.details
    this.isPermanent = options.isPermanent ?? this.fault === 'user'
  }

  get status(): number {
    return catalogue[this.code].status
  }

  get fault(): Fault {
    return catalogue[this.code].fault
  }
}

/** Returns the AppError that another thread has thrown; any other error unchanged. */
export function fromThread(error: unknown): unknown {
  const { code, ...options } = (error instanceof Error && (error.cause as Partial<Sent> | undefined)) || {}
  const isAppError = error instanceof Error && code !== undefined && code in catalogue
  return isAppError ? new AppError(code, error.message, options) : error
}

/** Thrown for a caller without the needed role: a 403 whose body is this plain text. */
export class AccessDenied extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'AccessDenied'
  }
}

export function invalid(field: string, issue: string): AppError {
  return new AppError('VALIDATION_ERROR', field === '' ? issue : `${field}: ${issue}`, {
    details: { field, issue },
  })
}

/** Creates the error. `what` is the thing in words, as in "Source not found". */
export function notFound(what: string): AppError {
  return new AppError('NOT_FOUND', `${what} not found`)
}

/** Returns what was found. @throws NOT_FOUND naming `what`, if there is nothing. */
export function required<Found>(found: Found | undefined, what: string): Found {
  if (found === undefined) throw notFound(what)
  return found
}

export function conflict(message: string): AppError {
  return new AppError('CONFLICT', message)
}

/** Whether a budget is spent until a person raises it or the month ends; turns under way have not merely reserved the rest. */
export function isSpent(error: unknown): boolean {
  return error instanceof AppError && error.code === 'BUDGET_SPENT' && error.isPermanent
}
