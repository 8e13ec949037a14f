/** An error that SQLite itself reports; `errcode` is its extended result code (https://sqlite.org/rescode.html). */
interface SqliteError extends Error {
  errcode: number
}

const busy = 5

function isSqliteError(error: unknown): error is SqliteError {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number'
}

/** Another connection holds a lock that the statement needs; a later attempt can succeed. */
export function isBusy(error: unknown): boolean {
  const primaryCodeMask = 0xff
  return isSqliteError(error) && (error.errcode & primaryCodeMask) === busy
}
