import type { QueryExecutorProvider } from 'kysely'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { seededRandom } from '#test/support/random.ts'
import { setEngineStage } from '#test/support/search-stage.ts'
import { weightOf } from '../../search/term-weight.ts'
import { quoted } from '../quoted.ts'
import { stateOf } from './index-state.ts'
import { createReader } from './read-postings.ts'

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

/** As FTS5 itself finds them, and values them, but that it counts the chunks that were removed. */
async function expected(db: QueryExecutorProvider, term: string) {
  const { chunks, totals } = await stateOf(db)
  const { rows } = await sql<{ sequence: number; value: number }>`
    select rowid as sequence, -bm25(chunk_text) as value from chunk_text
    where chunk_text match ${quoted(term)} order by rowid`.execute(db)
  const weight = weightOf(rows.length, chunks) / weightOf(rows.length, totals.chunks)
  return rows.map(({ sequence, value }) => [sequence, expect.closeTo(weight * value, 6)])
}

/** @param chunks that there are; without a chunk for the newest entry, it can't be told from that of another index. */
async function stageWith(chunks: number) {
  const { db, engine } = await setEngineStage(chunks)
  const random = seededRandom(3)
  const write = (first: number, last: number) =>
    db.transaction().execute(async transaction => {
      for (let sequence = first; sequence <= last; sequence += 1) {
        const length = Math.floor(random.next() * 200)
        const terms = Array.from({ length }, () => (random.next() < 0.1 ? random.pick(words) : 'other'))
        await engine.writeFullText(transaction, [{ sequence: sequence, text: terms.join(' ') }])
      }
    })
  const check = async () => {
    const terms = [...words, 'other', 'connections', 'nowhere', 'two words', '…', 'or']
    const reader = await createReader(db, await stateOf(db), terms)
    for (const term of terms) {
      const { sequences, values } = await reader.read(term)
      const found = Array.from(sequences, (sequence, index) => [sequence, values[index]])
      expect(found, term).toEqual(await expected(db, term))
    }
  }
  return { db, engine, write, check }
}

test.each([
  ['whose lengths are remembered', count],
  ['that can not be told from others', 1],
])('the lists of terms of an index %s are as FTS5 has them, while chunks come and go', async (_, chunks) => {
  const { db, engine, write, check } = await stageWith(chunks)
  await check()
  await write(1, 150)
  await check()
  for (const sequence of [3, 4, 77, 150]) await engine.removeFullText(db, sequence)
  await check()
  for (let first = 151; first < count; first += 50) await write(first, first + 49)
  await check()
  await sql`insert into chunk_text (chunk_text) values ('optimize')`.execute(db)
  await check()
})

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
