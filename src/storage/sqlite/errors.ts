/** An error that SQLite itself reports; `errcode` is its extended result code (https://sqlite.org/rescode.html). */
interface SqliteError extends Error {
  errcode: number
}

const busy = 5
const primaryKeyViolation = 1555
const uniqueViolation = 2067

function isSqliteError(error: unknown): error is SqliteError {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number'
}

/** Another connection holds a lock that the statement needs; trying again later can succeed. */
export function isBusy(error: unknown): boolean {
  const primaryCodeMask = 0xff
  return isSqliteError(error) && (error.errcode & primaryCodeMask) === busy
}

/** A row with the same primary key, or the same values in a unique index, exists already. */
export function isUniqueViolation(error: unknown): boolean {
  return isSqliteError(error) && (error.errcode === primaryKeyViolation || error.errcode === uniqueViolation)
}
