import { type QueryExecutorProvider, sql } from 'kysely'
import { expect, test } from 'vitest'
import { seededRandom } from '#test/support/random.ts'
import { setEngineStage } from '#test/support/search-stage.ts'
import { weightOf } from '../../search/term-weight.ts'
import { quoted } from '../quoted.ts'
import { stateOf } from './index-state.ts'
import { createReader } from './read-postings.ts'
import { tokenizer } from './tokens.ts'

const count = 400
const words = [
  'connection',
  'connected',
  'réunion',
  'Straße',
  '防守',
  '守',
  '٣٤',
  'flies',
  'fly',
  'a\u0301',
  'กรุง',
  'x1',
]

type Expected = (
  db: QueryExecutorProvider,
  term: string,
  texts: ReadonlyMap<number, string>,
) => Promise<unknown>

/** As FTS5 itself finds and values them in an index that never had any others. */
async function asIfNoneWereRemoved(
  db: QueryExecutorProvider,
  term: string,
  texts: ReadonlyMap<number, string>,
) {
  await sql`create virtual table temp.present_text using fts5(terms, tokenize = ${sql.lit(tokenizer)})`.execute(
    db,
  )
  await sql`insert into present_text (rowid, terms)
    select value ->> 0, value ->> 1 from json_each(${JSON.stringify([...texts])})`.execute(db)
  const { rows } = await sql<{ sequence: number; value: number }>`
    select rowid as sequence, -bm25(present_text) as value from present_text
    where present_text match ${quoted(term)} order by rowid`.execute(db)
  await sql`drop table present_text`.execute(db)
  return rows.map(({ sequence, value }) => [sequence, expect.closeTo(value, 6)])
}

/** As FTS5 itself finds them, and values them, but for the number of chunks, in which it counts those that were removed. */
async function asIndexed(db: QueryExecutorProvider, term: string) {
  const { chunks, totals } = await stateOf(db)
  const { rows } = await sql<{ sequence: number; value: number }>`
    select rowid as sequence, -bm25(chunk_text) as value from chunk_text
    where chunk_text match ${quoted(term)} order by rowid`.execute(db)
  const weight = weightOf(rows.length, chunks) / weightOf(rows.length, totals.chunks)
  return rows.map(({ sequence, value }) => [sequence, expect.closeTo(weight * value, 6)])
}

/** @param chunks that there are; without a chunk for the newest entry, it can't be told from that of another index. */
async function stageWith(chunks: number, expected: Expected = asIfNoneWereRemoved) {
  const { db, engine } = await setEngineStage(chunks)
  const texts = new Map<number, string>()
  const random = seededRandom(3)
  const write = (first: number, last: number) =>
    db.transaction().execute(async transaction => {
      for (let sequence = first; sequence <= last; sequence += 1) {
        const length = Math.floor(random.next() * 200)
        const terms = Array.from({ length }, () => (random.next() < 0.1 ? random.pick(words) : 'other'))
        texts.set(sequence, terms.join(' '))
        await engine.writeFullText(transaction, [{ sequence: sequence, text: terms.join(' ') }])
      }
    })
  const remove = async (sequence: number) => {
    texts.delete(sequence)
    await engine.removeFullText(db, sequence)
  }
  const check = async () => {
    const terms = [...words, 'other', 'connections', 'nowhere', 'two words', '…', 'or']
    const reader = await createReader(db, await stateOf(db), terms)
    for (const term of terms) {
      const { sequences, values } = await reader.read(term)
      const found = Array.from(sequences, (sequence, index) => [sequence, values[index]])
      expect(found, term).toEqual(await expected(db, term, texts))
    }
  }
  return { db, write, remove, check }
}

test.each([
  ['whose lengths are remembered', count, asIfNoneWereRemoved],
  ['that can not be told from others', 1, asIndexed],
])(
  'the lists of terms of an index %s are as FTS5 has them, while chunks come and go',
  async (_, chunks, expected) => {
    const { db, write, remove, check } = await stageWith(chunks, expected)
    await check()
    await write(1, 150)
    await check()
    for (const sequence of [3, 4, 77, 150]) await remove(sequence)
    await check()
    for (let first = 151; first < count; first += 50) await write(first, first + 49)
    await check()
    await sql`insert into chunk_text (chunk_text) values ('optimize')`.execute(db)
    await check()
  },
)

test('they are the same while chunks of several sources are indexed in turns', async () => {
  const { write, check } = await stageWith(count)
  await write(201, 250)
  await write(301, 350)
  await check()
  await write(251, 300)
  await check()
  await write(1, 200)
  await check()
})

test('short lists are read to count chunks, and long ones only when they are asked for', async () => {
  const { db, write } = await stageWith(count)
  await write(1, 100)
  const reader = await createReader(db, await stateOf(db), ['other', 'nowhere'])
  expect(await reader.readShort('other', 500)).toBeUndefined()
  expect((await reader.read('other')).sequences.length).toBeGreaterThan(90)
  expect((await reader.readShort('nowhere', 500))?.sequences).toEqual(new Uint32Array())
})
