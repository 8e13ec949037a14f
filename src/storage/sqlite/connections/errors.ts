import { basename, dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { storageFull } from '#platform/disk.ts'
import { AppError } from '#platform/errors.ts'

/** An error that SQLite itself reports; `errcode` is its extended result code (https://sqlite.org/rescode.html). */
interface SqliteError extends Error {
  errcode: number
}

const codes = { busy: 5, readOnly: 8, corrupt: 11, full: 13, notADatabase: 26 }
/** `noSpaceForIndex`: of the write-ahead log, which readers need as well. `moved`: the file was removed while it was open. */
const extendedCodes = { noSpaceForIndex: 4874, moved: 1032 }

function isSqliteError(error: unknown): error is SqliteError {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number'
}

function primaryCode({ errcode }: SqliteError): number {
  return errcode & 0xff
}

/** Returns true if another connection holds a lock that the statement needs; a later attempt can succeed. */
export function isBusy(error: unknown): boolean {
  return isSqliteError(error) && primaryCode(error) === codes.busy
}

/** Throws SQLite's errors of a full disk or a damaged file as errors for callers. */
export function withKnownErrors<Result>(database: DatabaseSync, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    throw isSqliteError(error) ? asStorageError(error, database.location() ?? '') : error
  }
}

/** Returns an error for callers if it is about the file at `path` or its disk, and others unchanged. */
export function asStorageError(error: unknown, path: string): unknown {
  if (!isSqliteError(error)) return error
  const code = primaryCode(error)
  if (code === codes.full || error.errcode === extendedCodes.noSpaceForIndex) return storageFull(error)
  if (error.errcode === extendedCodes.moved) return damagedFile(path, 'was removed', error)
  if (code === codes.readOnly) return storageFull(error, 'read-only')
  if (code === codes.corrupt || code === codes.notADatabase) return damagedFile(path, 'is damaged', error)
  return error
}

/** Returns an error with the file's place in the data directory; only the log gets the whole path. */
export function damagedFile(path: string, what: string, cause?: unknown): AppError {
  const ofAgent = basename(path) === 'agent.db' ? `agents/${basename(dirname(path))}/` : ''
  const message = `The file ${ofAgent}${basename(path)} of the data directory ${what}. Put it back from a backup.`
  return new AppError('DATA_DAMAGED', message, { cause: new Error(`${path} ${what}`, { cause }) })
}
