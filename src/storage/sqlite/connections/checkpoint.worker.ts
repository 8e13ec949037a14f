/** Runs in a thread; the other side is `checkpoints.ts`. */
import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { withKnownErrors } from './errors.ts'

/** Max pages of a log that was never completed, because it is written to all the time. */
const maxLogLength = 4_000
/** Milliseconds to wait for the log's readers and writers. */
const busyTimeout = 250

/** The share of a file that stays free for the next writes. */
const keptFree = 0.2
/** Pages that are given back at a time, while writers wait. */
const pagesAtATime = 50
/** Milliseconds to wait for other writers. */
const writersPatience = 5_000

/** Shrinks a file after its rows were deleted. */
export function giveBack(path: string): void {
  if (!existsSync(path)) return
  const database = new DatabaseSync(path, { timeout: writersPatience })
  const countOf = (pages: string) => Number(Object.values(database.prepare(`pragma ${pages}`).get() ?? {})[0])
  try {
    withKnownErrors(database, () => {
      if (countOf('auto_vacuum') === 0) return
      while (countOf('freelist_count') > countOf('page_count') * keptFree)
        database.exec(`pragma incremental_vacuum(${pagesAtATime})`)
    })
  } finally {
    database.close()
  }
  moveLog(path)
}

/**
 * Checkpoints as much as others allow, without making them wait. A log that has grown nevertheless is checkpointed
 * completely while writers wait, which they do without blocking.
 */
export function moveLog(path: string): void {
  if (!existsSync(path)) return
  const database = new DatabaseSync(path, { timeout: busyTimeout })
  try {
    withKnownErrors(database, () => {
      const moved = database.prepare('pragma wal_checkpoint(passive)').get()
      if (Number(moved?.log ?? 0) > maxLogLength) database.exec('pragma wal_checkpoint(truncate)')
    })
  } finally {
    database.close()
  }
}
