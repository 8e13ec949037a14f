import { type KyselyPlugin, sql } from 'kysely'
import { expect, test } from 'vitest'
import { setEngineStage } from '#test/support/search-stage.ts'
import { nearestByVector } from './nearest.ts'
import { createVectors, removeVectors, vectorTables, writeVectors } from './vectors.ts'

test('the room of vectors that were removed is given back', async () => {
  const { db } = await setEngineStage()
  const spaces = [
    { id: 'openai/small', dimensions: 2, form: 'floats', vector: Float32Array.of(1, 0) },
    { id: 'bits', dimensions: 16, form: 'bits', vector: Uint8Array.of(1, 1) },
  ] as const
  for (const { vector, ...space } of spaces) {
    await createVectors(db, space)
    await writeVectors(db, space, [{ sequence: 1, vector: vector }])
    await writeVectors(db, space, [{ sequence: 2, vector: vector }])
  }
  const tables = await vectorTables(db)
  expect(tables).toHaveLength(2)
  for (const sequence of [1, 2]) await removeVectors(db, tables, sequence)
  for (const table of tables) {
    const { rows } =
      await sql`select 1 from ${sql.table(`${table}_sketches`)} where length(sketches) > 0`.execute(db)
    expect(rows).toEqual([])
  }
})

test('a space can be searched at every moment while its tables are made', async () => {
  const { db } = await setEngineStage()
  const space = { id: 'openai/small', dimensions: 2, form: 'floats' } as const
  const found: unknown[] = []
  const searchAfterEach: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      found.push(await nearestByVector(db, space, { vector: Float32Array.of(1, 0), limit: 10 }))
      return result
    },
  }
  await createVectors(db.withPlugin(searchAfterEach), space)
  expect(found).toEqual([[], [], [], []])
})
