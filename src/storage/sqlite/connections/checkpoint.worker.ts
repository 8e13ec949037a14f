/** What runs in a thread; the other side is `checkpoints.ts`. */
import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/** Pages in a log that never came to its end, since it was written to all the time. */
const longestLog = 4_000
/** Milliseconds for which the log's readers and writers are waited for. */
const patience = 250

/**
 * Moves the log as far as others allow; nobody waits for that. A log that has grown nevertheless is moved to its end while
 * writers wait, who do so without blocking.
 */
export function moveLog(path: string): void {
  if (!existsSync(path)) return
  const database = new DatabaseSync(path, { timeout: patience })
  try {
    const moved = database.prepare('pragma wal_checkpoint(passive)').get()
    if (Number(moved?.log ?? 0) > longestLog) database.exec('pragma wal_checkpoint(truncate)')
  } finally {
    database.close()
  }
}
