import { join } from 'node:path'
import { type Generated, Kysely, sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryDirectory } from '#test/support/temporary-directory.ts'
import { createSqliteDialect } from './dialect.ts'
import { isBusy } from './errors.ts'
import { openDatabase } from './open.ts'

interface Tables {
  notes: { sequence: Generated<number>; name: string | null; done: unknown; at: unknown }
}

function open(path: string, timeout?: number): Kysely<Tables> {
  const database = openDatabase(path, { synchronous: 'normal' })
  const db = new Kysely<Tables>({
    dialect: createSqliteDialect(timeout === undefined ? { database } : { database, timeout }),
  })
  onTestFinished(() => db.destroy())
  return db
}

async function createNotes(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('notes')
    .addColumn('sequence', 'integer', column => column.primaryKey())
    .addColumn('name', 'text', column => column.unique())
    .addColumn('done', 'integer')
    .addColumn('at', 'text')
    .execute()
}

const note = (name: string) => ({ name, done: 0, at: null })

async function notesAt(path: string): Promise<Kysely<Tables>> {
  const db = open(path)
  await createNotes(db)
  return db
}

const newPath = () => join(temporaryDirectory(), 'notes.db')

test('truth values, times and undefined are stored in the forms of the tables', async () => {
  const db = await notesAt(newPath())
  await db
    .insertInto('notes')
    .values({ name: sql`${undefined}`, done: true, at: new Date('2026-01-02T03:04:05.678Z') })
    .execute()
  const row = await db.selectFrom('notes').selectAll().executeTakeFirst()
  expect(row).toEqual({ sequence: 1, name: null, done: 1, at: '2026-01-02T03:04:05.678Z' })
})

test('a write reports what it changed, and one with returning gives rows', async () => {
  const db = await notesAt(newPath())
  const inserted = await db.insertInto('notes').values(note('a')).executeTakeFirst()
  expect(inserted).toMatchObject({ insertId: 1n, numInsertedOrUpdatedRows: 1n })
  const updated = await db.updateTable('notes').set({ done: 1 }).executeTakeFirst()
  expect(updated.numUpdatedRows).toBe(1n)
  const returned = await db.insertInto('notes').values(note('b')).returning('name').execute()
  expect(returned).toEqual([{ name: 'b' }])
})

test('a statement that was prepared before a change of the schema sees the new column', async () => {
  const db = await notesAt(newPath())
  await db.insertInto('notes').values(note('a')).execute()
  const all = () => sql`select * from notes`.execute(db)
  await all()
  await db.schema.alterTable('notes').addColumn('extra', 'text').execute()
  expect((await all()).rows).toEqual([{ sequence: 1, name: 'a', done: 0, at: null, extra: null }])
})

test('streaming yields every row, also when the last chunk is not full', async () => {
  const db = await notesAt(newPath())
  await db.insertInto('notes').values(['a', 'b', 'c', 'd', 'e'].map(note)).execute()
  const names: (string | null)[] = []
  for await (const row of db.selectFrom('notes').select('name').orderBy('sequence').stream(2))
    names.push(row.name)
  expect(names).toEqual(['a', 'b', 'c', 'd', 'e'])
})

test('a failing transaction leaves nothing behind, and the connection goes on working', async () => {
  const db = await notesAt(newPath())
  const failing = db.transaction().execute(async transaction => {
    await transaction.insertInto('notes').values(note('a')).execute()
    throw new Error('changed my mind')
  })
  await expect(failing).rejects.toThrow('changed my mind')
  await db.insertInto('notes').values(note('b')).execute()
  expect(await db.selectFrom('notes').select('name').execute()).toEqual([{ name: 'b' }])
})

test('a savepoint undoes a part of a transaction', async () => {
  const db = await notesAt(newPath())
  const transaction = await db.startTransaction().execute()
  await transaction.insertInto('notes').values(note('kept')).execute()
  const saved = await transaction.savepoint('half "way"').execute()
  await saved.insertInto('notes').values(note('undone')).execute()
  const back = await saved.rollbackToSavepoint('half "way"').execute()
  await back.commit().execute()
  expect(await db.selectFrom('notes').select('name').execute()).toEqual([{ name: 'kept' }])
})

test('writes and transactions wait for another writer without blocking the thread', async () => {
  const path = newPath()
  const db = await notesAt(path)
  const other = openDatabase(path, { synchronous: 'normal' })
  onTestFinished(() => other.close())
  other.exec('begin immediate')

  const single = db.insertInto('notes').values(note('single')).execute()
  const second = open(path)
  const transaction = second.transaction().execute(async inner => {
    await inner.insertInto('notes').values(note('transaction')).execute()
  })
  // Reached while the lock is held, so the waiting has left the thread free; both writes are waiting by now.
  await new Promise(resolve => setImmediate(resolve))
  other.exec("insert into notes (name) values ('other'); commit")
  await Promise.all([single, transaction])

  const names = await db.selectFrom('notes').select('name').orderBy('name').execute()
  expect(names.map(row => row.name)).toEqual(['other', 'single', 'transaction'])
})

test('timeout ends: a write fails as busy when the lock stays taken', async () => {
  const path = newPath()
  await notesAt(path)
  const other = openDatabase(path, { synchronous: 'normal' })
  onTestFinished(() => other.close())
  other.exec('begin immediate')
  const impatient = open(path, 20)
  const error = await impatient
    .insertInto('notes')
    .values(note('late'))
    .execute()
    .catch(reason => reason)
  expect(isBusy(error)).toBe(true)
})

test('a transaction that only reads takes no write lock and sees one moment', async () => {
  const path = newPath()
  const db = await notesAt(path)
  const writer = open(path)
  const counts = await db
    .transaction()
    .setAccessMode('read only')
    .execute(async transaction => {
      const before = await transaction.selectFrom('notes').selectAll().execute()
      await writer.insertInto('notes').values(note('meanwhile')).execute()
      const after = await transaction.selectFrom('notes').selectAll().execute()
      return [before.length, after.length]
    })
  expect(counts).toEqual([0, 0])
})
