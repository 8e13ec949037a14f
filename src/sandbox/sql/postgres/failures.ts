/**
 * Maps PostgreSQL's errors to a problem of one of the three kinds
 * (https://www.postgresql.org/docs/current/errcodes-appendix.html).
 */
import { timeLimit } from '../limits.ts'
import { type Problem, rowTooLarge, timedOut } from '../problem.ts'
import { TooLarge } from './query.ts'

const forbidden = new Set(['42501', '25006', '28000'])
/** Invalid parameter values, statements that are too complex, and unsupported ones. */
const invalid = new Set(['22P02', '08P01', '54001', '54011', '54023', '0A000', '3F000'])
const busy = new Set(['40001', '40P01', '55P03'])
const cancelled = '57014'

export function isServerError(error: unknown): error is Error & { code: string; detail?: string } {
  return (
    error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.length === 5
  )
}

/** Returns true for a parameter that fits every type, as in `? IS NULL` or `? + ?`. */
export function isUntyped(error: unknown): boolean {
  return isServerError(error) && (error.code === '42P18' || error.code === '42725')
}

/** Returns true also for tables on which the role has no privileges yet: they are then not even visible. */
export function mayLackRights(error: unknown): boolean {
  return isServerError(error) && (error.code === '42501' || error.code === '42P01')
}

export function problemOf(error: unknown): Problem | undefined {
  if (error instanceof TooLarge) return rowTooLarge
  if (!isServerError(error)) return undefined
  const { code, detail } = error
  const message = [error.message, detail].filter(Boolean).join('. ').replace(/\.?$/, '.')
  if (forbidden.has(code)) return { kind: 'forbidden', message: refusal(error.message) }
  if (code === cancelled) return timedOut(timeLimit)
  if (busy.has(code))
    return { kind: 'failed', message: 'The database was busy with other writes for too long. Try again.' }
  if (invalid.has(code) || code.startsWith('42')) return { kind: 'invalid', message }
  return { kind: 'failed', message }
}

function refusal(message: string): string {
  const table = /^permission denied for (?:table|view|sequence) (.*)$/.exec(message)?.[1]
  if (table === undefined) return `${message}.`
  return `The table ${table} is not accessible here, or may not be written. GET sql/schema tells which are there.`
}
