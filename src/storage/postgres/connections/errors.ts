/**
 * Error classes after which the transaction can be retried
 * (https://www.postgresql.org/docs/current/errcodes-appendix.html).
 */
const conflictCodes = new Set(['40001', '40P01'])
const duplicateCodes = new Set(['23505', '42P06', '42P07', '42710'])
const forbiddenCode = '42501'
const crowdedCode = '53300'
const diskFullCode = '53100'

/** Serialisation failure, deadlock, or a concurrent change of the server's catalogues: the transaction was rolled back. */
export function isConflict(error: unknown): boolean {
  return conflictCodes.has(codeOf(error)) || isCatalogueConflict(error)
}

/** Such as dropping a table on which another transaction has just granted a privilege. It has no code of its own. */
function isCatalogueConflict(error: unknown): boolean {
  return (
    codeOf(error) === 'XX000' &&
    error instanceof Error &&
    /^tuple concurrently (?:updated|deleted)$/.test(error.message)
  )
}

/** The object to be created already exists, for instance because another process creates it at the same time. */
export function isDuplicate(error: unknown): boolean {
  return duplicateCodes.has(codeOf(error))
}

/** The user of this connection lacks the privilege. */
export function isForbidden(error: unknown): boolean {
  return codeOf(error) === forbiddenCode
}

/** The server has no place for another connection. */
export function isCrowded(error: unknown): boolean {
  return codeOf(error) === crowdedCode
}

/** The disk of the server. */
export function isDiskFull(error: unknown): boolean {
  return codeOf(error) === diskFullCode
}

/** The client gave up waiting for an answer. */
export function isUnanswered(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout'
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
