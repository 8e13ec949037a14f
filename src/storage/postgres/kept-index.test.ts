import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { setSearchStage } from '#test/support/search-stage.ts'
import { searchEngine as engine } from './search-engine.ts'

test('in a large index, whose counts are remembered, a word is found as soon as a chunk holds it', async () => {
  const { db, addSource } = await setSearchStage()
  await addSource('manual')
  const chunks = 10_002
  await sql`insert into chunks (id, source_id, content, start_offset, end_offset)
    select number, 'manual', '', 0, 0 from generate_series(1, ${chunks}::integer) as number`.execute(db)
  await sql`insert into chunk_text (sequence, terms, length)
    select number, '''tea'':1D', 1 from generate_series(1, ${chunks}::integer) as number where number <> 5000`.execute(
    db,
  )
  const terms = ['tea', 'xylophone']
  expect(await engine.countTerms(db, terms)).toEqual({
    terms: new Map([['tea', chunks - 1]]),
    chunks: chunks - 1,
  })
  // Neither the first nor the last one, so that nothing but the word itself tells of it.
  await engine.writeFullText(db, 5000, 'xylophone')
  const counted = await engine.countTerms(db, terms)
  expect(counted.terms.get('xylophone')).toBe(1)
  const found = await engine.rankByText(db, { ...counted, limit: 10 })
  expect(found[0]?.sequence).toBe(5000)
})
