import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { setSearchStage } from '#test/support/search-stage.ts'
import { searchEngine as engine } from '../search-engine.ts'
import { fewIndexRows, stateOf } from './index-state.ts'

const chunks = 1_000
/** A chunk in the midst of the others. */
const between = 500

/** A large index in which each chunk but one holds the word tea. */
async function open() {
  const { db, addSource } = await setSearchStage()
  await addSource('manual')
  await addSource('other')
  await sql`insert into chunks (id, source_id, content, start_offset, end_offset)
    select number, case when number > 990 then 'other' else 'manual' end, '', 0, 0
    from generate_series(1, ${chunks}::integer) as number`.execute(db)
  await sql`insert into chunk_text (sequence, terms, length)
    select number, '''tea''', 1 from generate_series(1, ${chunks}::integer) as number where number <> ${between}
  `.execute(db)
  return {
    db,
    write: (sequence: number, text: string) => engine.writeFullText(db, [{ sequence: sequence, text: text }]),
    remove: (sequence: number) => engine.removeFullText(db, sequence),
    async count(...terms: string[]) {
      const counted = await engine.countTerms(db, terms)
      return [counted.chunks, ...terms.map(term => counted.terms.get(term) ?? 0)]
    },
    find: (...terms: string[]) => find(db, ...terms),
  }
}

async function find(db: Parameters<typeof engine.countTerms>[0], ...terms: string[]): Promise<number[]> {
  const found = await engine.rankByText(db, { ...(await engine.countTerms(db, terms)), limit: 10 })
  return found.map(({ sequence }) => sequence)
}

test('a word is found as soon as a chunk holds it, and no longer than that', async () => {
  const { write, remove, count, find } = await open()
  expect(await count('tea', 'xylophone')).toEqual([chunks - 1, chunks - 1, 0])
  expect(await find('xylophone')).toEqual([])
  // Neither the first nor the last one, as when sources are indexed in turns.
  await write(between, 'xylophone tea')
  expect(await count('tea', 'xylophone')).toEqual([chunks, chunks, 1])
  expect(await find('xylophone', 'tea')).toEqual([between, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  await remove(between)
  await remove(1)
  expect(await count('tea', 'xylophone')).toEqual([chunks - 2, chunks - 2, 0])
  expect(await find('xylophone', 'tea')).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
})

test('lists that are continued rank as those that are read', async () => {
  const { db, count, find } = await open()
  await sql`delete from chunk_text where sequence between 11 and 20`.execute(db)
  const texts = ['cup', 'cup cup', 'cup cup cup', 'cup cup cup cup', 'cup in a lot of words'].map(
    text => `tea ${text}`,
  )
  const write = async (first: number, some: readonly string[]) => {
    for (const [at, text] of some.entries())
      await engine.writeFullText(db, [{ sequence: first + at, text: text }])
  }
  await write(15, texts.slice(0, 3))
  expect(await count('cup')).toEqual([chunks - 8, 3])
  await write(11, texts.slice(3))
  // Asked for together with a word whose list is new.
  expect(await count('cup', 'lot')).toEqual([chunks - 6, 5, 1])
  expect(await find('cup')).toEqual([11, 17, 16, 15, 12])
  expect(await find('lot')).toEqual([12])
})

test('a search that breaks off takes nothing from the next ones', async () => {
  const { db, write, count } = await open()
  expect(await count('cup')).toEqual([chunks - 1, 0])
  await write(between, 'cup')
  let asked = 0
  const breaking = db.withPlugin({
    transformQuery({ node }) {
      asked += 1
      // After the state and the lengths of the index, where its lists are continued.
      if (asked === 3) throw new Error('the connection broke')
      return node
    },
    transformResult: async ({ result }) => result,
  })
  await expect(engine.countTerms(breaking, ['cup'])).rejects.toThrow('the connection broke')
  expect(await count('cup')).toEqual([chunks, 1])
})

test('what goes with its source is not counted any more', async () => {
  const { db, count } = await open()
  expect(await count('tea')).toEqual([chunks - 1, chunks - 1])
  await sql`delete from sources where id = 'other'`.execute(db)
  expect(await count('tea')).toEqual([chunks - 11, chunks - 11])
})

test('a transaction sees its own state of the index, whatever others have found meanwhile', async () => {
  const { db, write, find: findNow } = await open()
  await db
    .transaction()
    .setAccessMode('read only')
    .execute(async transaction => {
      await sql`select 1 from chunks limit 1`.execute(transaction)
      await write(between, 'xylophone')
      expect(await findNow('xylophone')).toEqual([between])
      expect(await find(transaction, 'xylophone')).toEqual([])
    })
  expect(await findNow('xylophone')).toEqual([between])
})

test('what transactions leave behind is put together', async () => {
  const { db, write, remove, count } = await open()
  const rows = async () =>
    (await sql<{ count: number }>`select count(*) as count from chunk_text_totals`.execute(db)).rows[0]?.count
  await write(between, 'cup')
  for (let sequence = 1; sequence < fewIndexRows; sequence += 1) await remove(sequence)
  expect(await rows()).toBeGreaterThan(fewIndexRows)
  const before = await stateOf(db)
  await engine.createVectors(db, { id: 'openai/small', dimensions: 2, form: 'floats' })
  expect(await rows()).toBe(1)
  const left = chunks - fewIndexRows + 1
  expect(await count('tea', 'cup')).toEqual([left, left - 1, 1])
  expect((await stateOf(db)).length).toBe(before.length)
})

test('a copy on a server that gives the numbers of transactions again is followed, too', async () => {
  const { db, count } = await open()
  expect(await count('tea')).toEqual([chunks - 1, chunks - 1])
  await db.transaction().execute(async transaction => {
    await sql`update chunk_text_totals set writer = pg_current_xact_id()`.execute(transaction)
    await engine.removeFullText(transaction, 1)
  })
  expect(await count('tea')).toEqual([chunks - 2, chunks - 2])
})
