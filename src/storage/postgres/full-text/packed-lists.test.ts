import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { setSearchStage } from '#test/support/search-stage.ts'
import { searchEngine as engine } from '../search-engine.ts'
import { neighbours } from './chunk-places.ts'
import { frequencyBits, packLists } from './packed-lists.ts'

/** As many as make lists worth packing in one neighbourhood, and not in the next one. */
const chunks = neighbours + 1_000
/** Chunks that are written late. */
const [between, later] = [500, neighbours + 500]

type Database = Awaited<ReturnType<typeof setSearchStage>>['db']

/** An index in which all chunks but two hold tea, some twice, others cups, pots and plates. */
async function open() {
  const { db, addSource } = await setSearchStage()
  await addSource('manual')
  await sql`insert into chunks (id, source_id, content, start_offset, end_offset)
    select number, 'manual', '', 0, 0 from generate_series(1, ${chunks}::integer) as number`.execute(db)
  await sql`insert into chunk_text (sequence, length, terms)
    select number, number % 7 + 1, array_to_tsvector(
      array[case when number % 3 = 0 then 'tea 2' else 'tea' end]
      || case when number % 10 = 0 then array['cup 5', 'pot'] else '{}' end
      || case when number % 1000 = 1 then array['plate 3'] else '{}' end || array[' ' || number / ${sql.lit(neighbours)}])
    from generate_series(1, ${chunks}::integer) as number where number not in (${between}, ${later})
  `.execute(db)
  return {
    db,
    write: (sequence: number, text: string) => engine.writeFullText(db, [{ sequence: sequence, text: text }]),
    remove: (sequence: number) => engine.removeFullText(db, sequence),
    find: (...terms: string[]) => find(db, ...terms),
  }
}

/** How many chunks hold each of these, and the first that are found by them. */
async function find(db: Database, ...terms: string[]) {
  const counts = await engine.countTerms(db, terms)
  const found = await engine.rankByText(db, { ...counts, limit: 300 })
  return { counts: terms.map(term => counts.terms.get(term) ?? 0), found }
}

async function packed(db: Database) {
  const { rows } = await sql<{ neighbourhood: number; lists: number }>`
    select neighbourhood, count(*) as lists from chunk_text_lists group by 1 order by 1`.execute(db)
  return rows.map(({ neighbourhood, lists }) => [neighbourhood, lists])
}

test('packed lists tell the same as the index, also of chunks that come and go afterwards', async () => {
  const [one, other] = [await open(), await open()]
  await packLists(one.db)
  // Those of all chunks, tea, cup, pot and plate.
  expect(await packed(one.db)).toEqual([[0, 5]])
  for (const { write, remove } of [one, other]) {
    for (const sequence of [1, 30, neighbours + 8]) await remove(sequence)
    await write(between, 'tea tea cup cup')
    await write(later, 'plate pot pot and a lot of other words')
  }
  const [expected, expectedOfTwo] = [await other.find('tea', 'cup', 'plate'), await other.find('pot', 'lot')]
  expect(expected.counts).toEqual([chunks - 4, 917, 10])
  expect(await one.find('tea', 'cup', 'plate')).toEqual(expected)
  // These are read by a thread that knows the index as it is now.
  expect(await one.find('pot', 'lot')).toEqual(expectedOfTwo)
})

test('lists are packed anew where many chunks have come or gone, once by whoever tries', async () => {
  const { db, write, find: findNow } = await open()
  await Promise.all([packLists(db), packLists(db), packLists(db)])
  expect(await packed(db)).toEqual([[0, 5]])
  await sql`delete from chunk_text where sequence < ${neighbours} and sequence % 10 <> 1`.execute(db)
  await write(between, 'kettle')
  await packLists(db)
  expect(await packed(db)).toEqual([[0, 4]])
  expect((await findNow('kettle', 'cup', 'plate')).counts).toEqual([1, 100, 10])
  await sql`delete from chunk_text where sequence < ${neighbours}`.execute(db)
  await packLists(db)
  expect(await packed(db)).toEqual([])
  expect((await findNow('tea', 'plate')).counts).toEqual([chunks - neighbours, 1])
})

test('a chunk counts once where one who packed at the same time as another one has listed it', async () => {
  const { db, write, find: findNow } = await open()
  await packLists(db)
  await write(between, 'kettle')
  const entry = between << frequencyBits
  await sql`insert into chunk_text_lists values ('kettl', 0, int2send(${entry}::smallint))`.execute(db)
  expect((await findNow('kettle')).counts).toEqual([1])
})

test('a transaction that does not see the lists yet reads what the index tells', async () => {
  const { db, find: findNow } = await open()
  await db
    .transaction()
    .setAccessMode('read only')
    .execute(async transaction => {
      await sql`select 1 from chunks limit 1`.execute(transaction)
      await packLists(db)
      expect((await findNow('tea')).counts).toEqual([chunks - 2])
      expect((await find(transaction as unknown as Database, 'cup')).counts).toEqual([918])
    })
  expect((await findNow('pot')).counts).toEqual([918])
})
