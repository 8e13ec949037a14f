import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openInProcess } from '#test/support/postgres/in-process.ts'
import type { NearestQuery, VectorSpace } from '../../search/search-engine.ts'
import { nearestByVector } from './nearest.ts'
import { ensureVectorExtension, extensionSchema } from './vector-extension.ts'
import { createVectors, writeVectors } from './vectors.ts'

/** The extension goes into the schema `platform`. */
async function open() {
  const db = await openInProcess()
  const enter = (schema: string) => sql`set search_path = ${sql.id(schema)}`.execute(db)
  await sql`create schema platform`.execute(db)
  return {
    db,
    async install() {
      await enter('platform')
      await ensureVectorExtension(db)
      const found = await extensionSchema(db)
      await enter('agent')
      return found
    },
  }
}

const space = (id: string): VectorSpace => ({ id, dimensions: 2, form: 'floats' })

test('pgvector compares the vectors of tables that are made once it is there; others stay as they are', async () => {
  const { db, install } = await open()
  async function fill(id: string) {
    await createVectors(db, space(id))
    const vectors = [Float32Array.of(0, 5), Float32Array.of(1, 1), Float32Array.of(-1, 0)]
    for (const [index, one] of vectors.entries())
      await writeVectors(db, space(id), [{ sequence: index + 1, vector: one }])
    await writeVectors(db, space(id), [{ sequence: 4, vector: Float32Array.of(0, 0) }])
  }
  const nearest = (id: string, options: Partial<NearestQuery> = {}) =>
    nearestByVector(db, space(id), { vector: Float32Array.of(2, 0), limit: 9, ...options })
  const typeOf = async (id: string) => {
    const { rows } = await sql<{ type: string }>`select distinct pg_typeof(embedding)::text as type
      from ${sql.table(id)}`.execute(db)
    return rows[0]?.type
  }
  const tables = async () => {
    const { rows } = await sql<{ name: string }>`select relname as name from pg_class
      where relkind = 'r' and relname like 'chunk_vectors%' and relname not like '%sketches' order by oid`.execute(
      db,
    )
    return rows.map(({ name }) => name)
  }

  await fill('before')
  expect(await install()).toBe('platform')
  expect(await install()).toBe('platform')
  await fill('after')
  const types = await Promise.all((await tables()).map(typeOf))
  expect(types).toEqual(['bytea', 'platform.vector'])

  for (const id of ['before', 'after']) {
    await createVectors(db, space(id))
    expect(await nearest(id)).toEqual([
      { sequence: 2, similarity: expect.closeTo(Math.SQRT1_2, 6) },
      { sequence: 1, similarity: expect.closeTo(0, 6) },
      { sequence: 3, similarity: 0 },
    ])
    expect(await nearest(id, { limit: 1 })).toMatchObject([{ sequence: 2 }])
    expect(await nearest(id, { limit: 1, within: sql`(values (1), (3))` })).toMatchObject([{ sequence: 1 }])
    await expect(nearest(id, { vector: Float32Array.of(1, 2, 3) })).rejects.toThrow(/dimension/)
  }
})
