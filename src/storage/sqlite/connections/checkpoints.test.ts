import { copyFileSync, existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type Kysely, sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { createLog } from '#platform/logging/log.ts'
import { createWorkerPool } from '#platform/workers/worker-pool.ts'
import { temporaryDirectory } from '#test/support/temporary-directory.ts'
import type { AgentTables } from '../../tables.ts'
import { createEngine } from '../engine.ts'
import { type Checkpointer, createCheckpoints } from './checkpoints.ts'
import { openDataDirectory } from './data-directory.ts'

interface Opened {
  db: Kysely<AgentTables>
  path: string
  checkpointer: Checkpointer
  remove(): Promise<void>
}

/** An agent's database as the service opens it, with one table. */
async function openAgent(): Promise<Opened> {
  const log = createLog('silent')
  const workers = createWorkerPool({ maxThreads: 1, log })
  const directory = await openDataDirectory(temporaryDirectory())
  const checkpointers = new Map<string, Checkpointer>()
  const createCheckpointer = createCheckpoints(workers, log)
  const checkpointerOf = (path: string) => {
    const checkpointer = createCheckpointer(path)
    checkpointers.set(path, checkpointer)
    return checkpointer
  }
  const engine = createEngine({ directory, synchronous: 'normal', checkpointerOf })
  const { db, path } = await engine.openAgent('agent')
  const checkpointer = checkpointers.get(path)
  if (checkpointer === undefined) throw new Error('the database has no checkpointer')
  onTestFinished(async () => {
    await db.destroy()
    await workers.close()
    await engine.close()
  })
  await sql`create table notes (text)`.execute(db)
  return { db, path, checkpointer, remove: () => engine.removeAgent('agent') }
}

/** Notes that have left the log: what a copy of the file alone, without its log, holds. */
function movedNotes(path: string): number {
  const copy = join(temporaryDirectory(), 'copy.db')
  copyFileSync(path, copy)
  const database = new DatabaseSync(copy)
  try {
    const known = database.prepare(`select 1 from sqlite_schema where name = 'notes'`).get()
    return known === undefined
      ? 0
      : Number(database.prepare('select count(*) as count from notes').get()?.count)
  } finally {
    database.close()
  }
}

async function write(db: Kysely<AgentTables>, notes: number, bytes = 10): Promise<void> {
  for (let note = 0; note < notes; note += 1)
    await sql`insert into notes values (zeroblob(${bytes}))`.execute(db)
}

test('no commit waits for the disk: its log is moved by another thread, and then as a whole', async () => {
  const { db, path, checkpointer } = await openAgent()
  // More pages than SQLite would leave in a log by itself.
  await write(db, 40, 200_000)
  expect(movedNotes(path)).toBe(0)
  await write(db, 500)
  await checkpointer.settled()
  expect(movedNotes(path)).toBeGreaterThanOrEqual(400)
})

test('what is large is moved before there are many statements of it', async () => {
  const { db, path, checkpointer } = await openAgent()
  for (let note = 0; note < 20; note += 1)
    await sql`insert into notes values (${'a'.repeat(400_000)})`.execute(db)
  await checkpointer.settled()
  expect(movedNotes(path)).toBeGreaterThan(0)
})

test('a log that has grown large is cut', async () => {
  const { db, path, checkpointer } = await openAgent()
  await write(db, 90, 200_000)
  expect(statSync(`${path}-wal`).size).toBeGreaterThan(16_000_000)
  await write(db, 500)
  await checkpointer.settled()
  expect(statSync(`${path}-wal`).size).toBeLessThan(1_000_000)
})

test('a file becomes smaller once its rows were deleted, but for some room', async () => {
  const { db, path, checkpointer } = await openAgent()
  await write(db, 100, 200_000)
  await sql`delete from notes where rowid > 10`.execute(db)
  await checkpointer.shrink()
  expect(statSync(path).size).toBeGreaterThan(2_000_000)
  expect(statSync(path).size).toBeLessThan(3_000_000)
  // What is left is whole.
  expect((await sql`pragma integrity_check`.execute(db)).rows).toEqual([{ integrity_check: 'ok' }])
})

test('a database closes only when nobody moves its log any more, so that its folder can go', async () => {
  const { db, path, remove } = await openAgent()
  await write(db, 1_000, 5_000)
  await db.destroy()
  await remove()
  expect(existsSync(path)).toBe(false)
})
