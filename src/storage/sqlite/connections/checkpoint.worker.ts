/** Runs in a thread; the other side is `checkpoints.ts`. */
import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { telling } from './errors.ts'

/** Pages in a log that was never completed, because it is written to all the time. */
const maxLogLength = 4_000
/** Milliseconds to wait for the log's readers and writers. */
const busyTimeout = 250

/**
 * Checkpoints as much as others allow, without making anybody wait. A log that has grown nevertheless is checkpointed
 * completely while writers wait, which they do without blocking.
 */
export function moveLog(path: string): void {
  if (!existsSync(path)) return
  const database = new DatabaseSync(path, { timeout: busyTimeout })
  try {
    telling(database, () => {
      const moved = database.prepare('pragma wal_checkpoint(passive)').get()
      if (Number(moved?.log ?? 0) > maxLogLength) database.exec('pragma wal_checkpoint(truncate)')
    })
  } finally {
    database.close()
  }
}
