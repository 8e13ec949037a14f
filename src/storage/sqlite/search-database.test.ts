import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { temporaryDirectory } from '#test/support/temporary-directory.ts'
import { openSearchDatabase } from './search-database.ts'

async function makeFile(path: string, content: string): Promise<void> {
  const { db } = await openSearchDatabase(path, { readOnly: false })
  await sql`create table notes (content text)`.execute(db)
  await sql`insert into notes values (${content})`.execute(db)
  await db.destroy()
}

async function contents(path: string): Promise<string[]> {
  const { db } = await openSearchDatabase(path, { readOnly: true })
  const { rows } = await sql<{ content: string }>`select content from notes`.execute(db)
  await db.destroy()
  return rows.map(({ content }) => content)
}

test('what others write is there when a file is read again', async () => {
  const path = join(temporaryDirectory(), 'agent.db')
  await makeFile(path, 'first')
  expect(await contents(path)).toEqual(['first'])
  const { db } = await openSearchDatabase(path, { readOnly: false })
  await sql`insert into notes values ('second')`.execute(db)
  await db.destroy()
  expect(await contents(path)).toEqual(['first', 'second'])
})

test('another file under the same path is read in the place of the one before', async () => {
  const path = join(temporaryDirectory(), 'agent.db')
  await makeFile(path, 'former')
  expect(await contents(path)).toEqual(['former'])
  await makeFile(`${path}.new`, 'present')
  renameSync(`${path}.new`, path)
  expect(await contents(path)).toEqual(['present'])
})

test('a connection serves one reader at a time', async () => {
  const path = join(temporaryDirectory(), 'agent.db')
  await makeFile(path, 'first')
  const one = await openSearchDatabase(path, { readOnly: true })
  const seen = one.db.transaction().execute(async transaction => {
    await sql`select content from notes`.execute(transaction)
    expect(await contents(path)).toEqual(['first'])
  })
  await expect(seen).resolves.toBeUndefined()
  await one.db.destroy()
  expect(await contents(path)).toEqual(['first'])
})

test('a file that is not there can not be read', async () => {
  await expect(
    openSearchDatabase(join(temporaryDirectory(), 'none.db'), { readOnly: true }),
  ).rejects.toThrow()
})
