import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { setEngineStage } from '#test/support/search-stage.ts'
import { frequencyBits } from './packed-lists.ts'
import { readPostingsOf } from './postings.ts'

test('what chunks add to tens of thousands of lists is read with a plan for any number of them', async () => {
  const chunks = 1_000
  const { db } = await setEngineStage(chunks)
  await sql`insert into chunk_text (sequence, length, terms)
    select number, 1, array_to_tsvector(
      array(select 'other' || (100 * number + step) from generate_series(1, 100) as step) || array['tea', 'w' || number]
    ) from generate_series(1, ${chunks}::integer) as number`.execute(db)
  const numbers = new Map(Array.from({ length: chunks }, (_, at) => [at + 1, at]))
  const lexemes = ['tea', ...Array.from({ length: 20_000 }, (_, at) => `w${at}`)]
  const lists = await db.transaction().execute(async transaction => {
    // As the server plans a statement that it has often run; comparing each with each takes a minute.
    await sql`set local plan_cache_mode = force_generic_plan`.execute(transaction)
    await sql`set local statement_timeout = '10s'`.execute(transaction)
    return await readPostingsOf(transaction, numbers, [...numbers.keys()], lexemes)
  })
  expect(lists.size).toBe(lexemes.length)
  expect(lists.get('tea')).toHaveLength(chunks)
  expect(lists.get('w500')).toEqual(Uint32Array.of(499 << frequencyBits))
  expect(lists.get('w19000')).toHaveLength(0)
})
