/**
 * Error classes after which the transaction can be retried
 * (https://www.postgresql.org/docs/current/errcodes-appendix.html).
 */
const conflictCodes = new Set(['40001', '40P01'])
const duplicateCodes = new Set(['23505', '42P06', '42P07', '42710'])
const forbiddenCode = '42501'
const crowdedCode = '53300'
const diskFullCode = '53100'

/** Returns true after a serialisation failure, deadlock or catalogue conflict, which roll back. */
export function isConflict(error: unknown): boolean {
  return conflictCodes.has(codeOf(error)) || isCatalogueConflict(error)
}

/** Returns true for conflicts without a code, such as dropping a table with a privilege granted just now. */
function isCatalogueConflict(error: unknown): boolean {
  return (
    codeOf(error) === 'XX000' &&
    error instanceof Error &&
    /^tuple concurrently (?:updated|deleted)$/.test(error.message)
  )
}

/** Returns true if the object already exists, for instance if another process creates it just now. */
export function isDuplicate(error: unknown): boolean {
  return duplicateCodes.has(codeOf(error))
}

/** Returns true if the user of this connection lacks the privilege. */
export function isForbidden(error: unknown): boolean {
  return codeOf(error) === forbiddenCode
}

/** Returns true if the server accepts no further connection. */
export function isCrowded(error: unknown): boolean {
  return codeOf(error) === crowdedCode
}

/** Returns true if the disk of the server is full. */
export function isDiskFull(error: unknown): boolean {
  return codeOf(error) === diskFullCode
}

/** Returns true if the client gave up waiting for an answer. */
export function isUnanswered(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout'
}

/** The server ends, begins, or can't be reached: `pg` has no code for a connection that ended. */
export function isLost(error: unknown): boolean {
  const isEnded =
    error instanceof Error &&
    /^(Connection terminated|Client has encountered a connection error)/.test(error.message)
  return isEnded || /^(57P0[123]|08...|E(CONN(REFUSED|RESET)|PIPE))$/.test(codeOf(error))
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
