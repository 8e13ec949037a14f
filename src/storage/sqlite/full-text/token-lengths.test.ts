import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { type QueryExecutorProvider, sql } from 'kysely'
import { expect, test } from 'vitest'
import { temporaryDirectory } from '#test/support/temporary-directory.ts'
import { openSearchDatabase } from '../search-database.ts'
import { createFullText, removeFullText, writeFullText } from './full-text.ts'
import { stateOf } from './index-state.ts'
import { tokenLengths } from './token-lengths.ts'

async function makeIndex(path: string) {
  const { db } = await openSearchDatabase(path, { readOnly: false })
  await sql`create table chunks (sequence integer primary key, id text)`.execute(db)
  await createFullText(db)
  return db
}

async function add(db: QueryExecutorProvider, id: string, sequence: number, tokens: number): Promise<void> {
  await sql`insert into chunks values (${sequence}, ${id})`.execute(db)
  await writeFullText(db, [{ sequence: sequence, text: 'token '.repeat(tokens) }])
}

async function remove(db: QueryExecutorProvider, sequence: number): Promise<void> {
  await removeFullText(db, sequence)
  await sql`delete from chunks where sequence = ${sequence}`.execute(db)
}

async function lengths(db: QueryExecutorProvider, ...sequences: number[]) {
  const lengthOf = await tokenLengths(db, await stateOf(db))
  return lengthOf && sequences.map(lengthOf)
}

test('lengths are those of the chunks, also of new ones and after the newest has been removed', async () => {
  const db = await makeIndex(join(temporaryDirectory(), 'agent.db'))
  await add(db, 'one', 5, 3)
  await add(db, 'two', 6, 0)
  await add(db, 'three', 8, 20_000)
  expect(await lengths(db, 5, 6, 8)).toEqual([3, 0, 20_000])
  await add(db, 'four', 9, 127)
  await add(db, 'five', 10, 128)
  expect(await lengths(db, 5, 8, 9, 10)).toEqual([3, 20_000, 127, 128])
  await remove(db, 10)
  expect(await lengths(db, 5, 9)).toEqual([3, 127])
  await add(db, 'six', 10, 7)
  expect(await lengths(db, 5, 9, 10)).toEqual([3, 127, 7])
  await db.destroy()
})

test('lengths are not taken for those of an index that got the path of another one', async () => {
  const path = join(temporaryDirectory(), 'agent.db')
  const former = await makeIndex(path)
  await add(former, 'former', 1, 3)
  expect(await lengths(former, 1)).toEqual([3])
  await former.destroy()
  const present = await makeIndex(`${path}.new`)
  await add(present, 'present', 1, 4)
  await add(present, 'second', 2, 5)
  await present.destroy()
  renameSync(`${path}.new`, path)
  const { db } = await openSearchDatabase(path, { readOnly: true })
  expect(await lengths(db, 1, 2)).toEqual([4, 5])
  await db.destroy()
})

test('lengths are left to the index where its chunks lie far apart, or the newest can not be told from others', async () => {
  const db = await makeIndex(join(temporaryDirectory(), 'agent.db'))
  expect(await lengths(db, 1)).toBeUndefined()
  await add(db, 'one', 1, 3)
  await add(db, 'two', 1_000_000, 3)
  expect(await lengths(db, 1)).toBeUndefined()
  await remove(db, 1_000_000)
  expect(await lengths(db, 1)).toEqual([3])
  await sql`delete from chunks`.execute(db)
  expect(await lengths(db, 1)).toBeUndefined()
  await db.destroy()
})
