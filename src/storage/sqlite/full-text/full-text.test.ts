import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { seededRandom } from '#test/support/random.ts'
import { setEngineStage } from '#test/support/search-stage.ts'
import { stateOf } from './index-state.ts'
import { postingsOf } from './postings.ts'

const count = 4_000
const words = Array.from({ length: 64 }, (_, index) => `word${index}`)

/** Chunks that hold each of these words with the chance of two in five. */
async function fill() {
  const { db, engine } = await setEngineStage()
  const random = seededRandom(9)
  const texts = Array.from({ length: count }, () => words.filter(() => random.next() < 0.4).join(' '))
  const write = () =>
    db.transaction().execute(async transaction => {
      for (const [index, text] of texts.entries())
        await engine.writeFullText(transaction, [{ sequence: index + 1, text }])
    })
  await write()
  /** Removes every chunk and writes it anew. */
  const rewrite = async () => {
    await db.transaction().execute(async transaction => {
      for (let sequence = 1; sequence <= count; sequence += 1)
        await engine.removeFullText(transaction, sequence)
    })
    await write()
  }
  /** As FTS5 itself ranks. */
  const expected = async (terms: readonly string[]) => {
    const { rows } = await sql<{ sequence: number }>`
      select rowid as sequence from chunk_text where chunk_text match ${terms.join(' OR ')}
      order by bm25(chunk_text), rowid limit 10`.execute(db)
    return rows.map(({ sequence }) => sequence)
  }
  return { db, engine, expected, rewrite }
}

test('many frequent words are ranked by the index, and a few by remembered lists, in the same order', async () => {
  const { db, engine, expected } = await fill()
  for (const [terms, remembers] of [
    [words, false],
    [words.slice(0, 6), true],
  ] as const) {
    const counted = await engine.countTerms(db, terms)
    const lists = await postingsOf(db, await stateOf(db), [...counted.terms])
    expect(lists !== undefined).toBe(remembers)
    const found = await engine.rankByText(db, { ...counted, limit: 10 })
    expect(found.map(({ sequence }) => sequence)).toEqual(await expected(terms))
  }
})

test('chunks that were removed make no similarity greater, where the index ranks', async () => {
  const { db, engine, rewrite } = await fill()
  const best = async () =>
    (await engine.rankByText(db, { ...(await engine.countTerms(db, words)), limit: 1 }))[0]?.similarity
  const before = await best()
  expect(before).toBeLessThan(0.8)
  await rewrite()
  expect(await best()).toBeCloseTo(before ?? 1, 2)
})
