import { AppError, invalid } from '#platform/errors.ts'

/** `invalid`: cannot be prepared; `forbidden`: not allowed; `failed`: went wrong while running. */
export interface Problem {
  kind: 'invalid' | 'forbidden' | 'failed'
  /** A sentence for the caller. */
  message: string
}

/** Returns the error for callers: 400, 403 or 500. */
export function problemError({ kind, message }: Problem, cause?: unknown): AppError {
  if (kind === 'invalid') return invalid('query', message)
  return new AppError(kind === 'forbidden' ? 'FORBIDDEN' : 'SQL_FAILED', message, { cause })
}

export const timedOut = (limit: number): Problem => ({
  kind: 'failed',
  message: `The statement was stopped: it took longer than ${limit / 1000} s. Ask for less at once.`,
})

export const rowTooLarge: Problem = {
  kind: 'failed',
  message: 'A row of the result is larger than an answer may be. Select fewer columns, or a part of them.',
}
