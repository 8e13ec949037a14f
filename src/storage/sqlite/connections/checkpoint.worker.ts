/** Runs in a thread; the other side is `checkpoints.ts`. */
import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { telling } from './errors.ts'

/** Pages in a log that was never completed, because it is written to all the time. */
const longestLog = 4_000
/** Unused pages that are left for what is written next, and those that one step gives back. */
const keptPages = 500
const pagesAtOnce = 50
const mostSteps = 400
/** Milliseconds to wait for the log's readers and writers. */
const patience = 250

/**
 * Checkpoints as much as others allow, without making anybody wait. A log that has grown nevertheless is checkpointed
 * completely while writers wait, which they do without blocking.
 */
export function moveLog(path: string): void {
  if (!existsSync(path)) return
  const database = new DatabaseSync(path, { timeout: patience })
  try {
    telling(database, () => {
      const moved = database.prepare('pragma wal_checkpoint(passive)').get()
      if (Number(moved?.log ?? 0) > longestLog) database.exec('pragma wal_checkpoint(truncate)')
      shrink(database)
    })
  } finally {
    database.close()
  }
}

/** Gives pages that are no longer used back to the disk, in short transactions, between which others write. */
function shrink(database: DatabaseSync): void {
  for (let step = 0; step < mostSteps && unusedPages(database) > keptPages; step += 1)
    database.exec(`pragma incremental_vacuum(${pagesAtOnce})`)
}

function unusedPages(database: DatabaseSync): number {
  return Number(database.prepare('pragma freelist_count').get()?.freelist_count ?? 0)
}
