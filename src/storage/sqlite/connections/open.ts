import { DatabaseSync, type SQLOutputValue } from 'node:sqlite'
import { asStorageError } from './errors.ts'

/** `normal` survives the death of the process; `full` also survives a power cut, at the cost of a flush per commit. */
export type Synchronous = 'normal' | 'full'

export interface OpenOptions {
  synchronous: Synchronous
  readOnly?: boolean
  /**
   * Milliseconds for which SQLite itself waits for a lock, blocking the thread: for worker threads only. Without it, a
   * locked database is reported at once, and the dialect waits without blocking.
   */
  busyTimeout?: number
  /** True if the write-ahead log is checkpointed elsewhere, not during a commit. */
  leavesCheckpoints?: boolean
  /** Size of the page cache in KiB. */
  cacheSize?: number
}

/**
 * A file might come from a backup or a stranger: without `trusted_schema` and with `cell_size_check`, a
 * crafted one can do no harm.
 */
const guards = 'pragma trusted_schema = off; pragma cell_size_check = on;'

/** Small, because many agents are open at once, and the operating system caches files as well. */
const defaultCacheSize = 1024

/** The size in bytes to which the write-ahead log is truncated after a large transaction. */
const logSizeLimit = 4 * 1024 * 1024

/** Opens a database file, creating it if there is none; its folder must exist. */
export function openDatabase(path: string, options: OpenOptions): DatabaseSync {
  const { synchronous, readOnly = false, busyTimeout = 0 } = options
  const { cacheSize = defaultCacheSize, leavesCheckpoints = false } = options
  const database = new DatabaseSync(path, {
    readOnly,
    timeout: busyTimeout,
    enableForeignKeyConstraints: true,
    defensive: true,
  })
  try {
    database.function('fold_case', { deterministic: true }, foldCase)
    database.exec(`${guards} pragma cache_size = -${cacheSize};`)
    if (!readOnly) {
      // `giveBack` needs this mode, which can be chosen only before anything is stored.
      const isNew = database.prepare('pragma page_count').get()?.page_count === 0
      if (isNew) database.exec('pragma auto_vacuum = incremental;')
      database.exec(`pragma journal_mode = wal; pragma journal_size_limit = ${logSizeLimit};`)
      database.exec(`pragma synchronous = ${synchronous};`)
      if (leavesCheckpoints) database.exec('pragma wal_autocheckpoint = 0;')
    }
    return database
  } catch (error) {
    database.close()
    throw asStorageError(error, path)
  }
}

/** SQLite's own `lower` handles only ASCII. */
function foldCase(value: SQLOutputValue): string | null {
  return value === null ? null : String(value).toLowerCase()
}
