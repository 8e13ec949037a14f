import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { temporaryDirectory } from '#test/support/temporary-directory.ts'
import { openSearchDatabase } from '../search-database.ts'
import { createFullText, rankByText, writeFullText } from './full-text.ts'
import { stateOf } from './index-state.ts'
import { countTerms } from './term-counts.ts'

/** An index of chunks, of which the first has this text. */
async function makeIndex(path: string, id: string, text: string, chunks = 3): Promise<void> {
  const { db } = await openSearchDatabase(path, { readOnly: false })
  await sql`create table chunks (sequence integer primary key, id text)`.execute(db)
  await createFullText(db)
  for (let sequence = 1; sequence <= chunks; sequence += 1) {
    await sql`insert into chunks values (${sequence}, ${`${id}-${sequence}`})`.execute(db)
    await writeFullText(db, [{ sequence: sequence, text: sequence === 1 ? text : 'coffee' }])
  }
  await db.destroy()
}

async function ask(path: string) {
  const { db } = await openSearchDatabase(path, { readOnly: true })
  const counted = await countTerms(db, ['tea', 'milk'])
  const found = await rankByText(db, { ...counted, limit: 10 })
  const { name } = await stateOf(db)
  await db.destroy()
  return { counts: [...counted.terms], found: found.map(({ sequence }) => sequence), name }
}

test('what is remembered of an index is not taken for that of a file that got its path, however alike', async () => {
  const path = join(temporaryDirectory(), 'agent.db')
  await makeIndex(path, 'former', 'tea with lemon')
  expect(await ask(path)).toMatchObject({ counts: [['tea', 1]], found: [1] })
  await makeIndex(`${path}.new`, 'present', 'milk with honey')
  renameSync(`${path}.new`, path)
  expect(await ask(path)).toMatchObject({ counts: [['milk', 1]], found: [1] })
})

test('the name of a state, under which each term of it is remembered, stays short', async () => {
  const path = join(temporaryDirectory(), 'agent.db')
  await makeIndex(path, 'chunk', 'tea', 200)
  expect((await ask(path)).name.length).toBeLessThan(100)
})
