const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const disabledAfter = 5 * day

/** Pauses after the first failed attempt, the second, and so on; none follows the last. */
const pauses = [5_000, 5 * minute, 30 * minute, ...[2, 5, 10, 14, 20, 24].map(hours => hours * hour)]
const spread = 0.1

/** An attempt that has ended. Times are milliseconds since the epoch. */
export interface EndedAttempt {
  /** The response's status; null without a response. */
  status: number | null
  /** Milliseconds of the receiver's Retry-After. */
  retryAfter?: number | undefined
  /** Number of attempts so far. */
  attempts: number
  /** True if no attempt may follow. */
  isOnly: boolean
  /** Start of the webhook's current series of failures; null after a success. */
  failingSince: number | null
  now: number
  /** 0 to 1. */
  random: number
}

export interface Verdict {
  status: 'succeeded' | 'pending' | 'failed'
  /** Time of the next attempt, never before the receiver's Retry-After; null unless pending. */
  next: number | null
  failingSince: number | null
  /** The reason to disable the webhook; null if it stays enabled. */
  disable: string | null
}

export function judge(attempt: EndedAttempt): Verdict {
  const { status, isOnly, failingSince, now } = attempt
  if (isSuccess(status)) return { status: 'succeeded', next: null, failingSince: null, disable: null }
  const since = failingSince ?? now
  const disable = reasonToDisable(status, now - since)
  const next = isOnly || disable !== null ? null : nextAttempt(attempt)
  return { status: next === null ? 'failed' : 'pending', next, failingSince: since, disable }
}

/** `status` is null without a response. */
export function isSuccess(status: number | null): boolean {
  return status !== null && status >= 200 && status < 300
}

function reasonToDisable(status: number | null, failingMs: number): string | null {
  if (status === 410) return 'The receiver answered 410 Gone: it wants no more deliveries.'
  return failingMs >= disabledAfter ? 'Nothing but failures for five days.' : null
}

function nextAttempt({ status, retryAfter = 0, attempts, now, random }: EndedAttempt): number | null {
  const pause = pauses[attempts - 1]
  if (pause === undefined) return null
  const demanded = status === 429 || status === 503 ? Math.min(retryAfter, day) : 0
  return now + Math.max(demanded, Math.round(pause * (1 + spread * (2 * random - 1))))
}
