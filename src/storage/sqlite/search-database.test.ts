import { existsSync, readdirSync, readlinkSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { temporaryDirectory } from '#test/support/temporary-directory.ts'
import type { SearchDatabase } from '../search/search-engine.ts'
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

test('only the file that was read last may be cached as a whole, and only a small one', async () => {
  const pathOf = (name: string) => join(temporaryDirectory(), name)
  const [one, other, large] = [pathOf('one'), pathOf('other'), pathOf('large')]
  for (const path of [one, other, large]) await makeFile(path, 'first')
  await enlarge(large)
  const kibibytes = async ({ db }: SearchDatabase) => {
    const { rows } = await sql<{ cache_size: number }>`pragma cache_size`.execute(db)
    return -(rows[0]?.cache_size ?? 0)
  }
  const first = await openSearchDatabase(one, { readOnly: true })
  const whole = await kibibytes(first)
  const second = await openSearchDatabase(other, { readOnly: true })
  expect(await kibibytes(second)).toBe(whole)
  expect(await kibibytes(first)).toBeLessThan(whole / 2)
  await first.db.destroy()
  const third = await openSearchDatabase(large, { readOnly: true })
  expect(await kibibytes(third)).toBeLessThan(whole / 2)
  for (const { db } of [second, third]) await db.destroy()
  const again = await openSearchDatabase(one, { readOnly: true })
  expect(await kibibytes(again)).toBe(whole)
  await again.db.destroy()
})

async function enlarge(path: string): Promise<void> {
  const { db } = await openSearchDatabase(path, { readOnly: false })
  await sql`insert into notes values (zeroblob(40 * 1024 * 1024))`.execute(db)
  await sql`pragma wal_checkpoint(truncate)`.execute(db)
  await db.destroy()
}

test('a file that is not there can not be read', async () => {
  await expect(
    openSearchDatabase(join(temporaryDirectory(), 'none.db'), { readOnly: true }),
  ).rejects.toThrow()
})

/** Where Linux tells which files this process has open. */
const openFiles = '/proc/self/fd'

test.runIf(existsSync(openFiles))('a deleted file is let go when another one is read', async () => {
  const [deleted, other] = [join(temporaryDirectory(), 'agent.db'), join(temporaryDirectory(), 'agent.db')]
  for (const path of [deleted, other]) await makeFile(path, 'first')
  const isOpen = () =>
    readdirSync(openFiles)
      .map(number => {
        try {
          return readlinkSync(join(openFiles, number))
        } catch {
          // The one by which the folder was read.
          return ''
        }
      })
      .some(path => path.startsWith(deleted))
  await contents(deleted)
  expect(isOpen()).toBe(true)
  rmSync(deleted)
  await contents(other)
  expect(isOpen()).toBe(false)
})
