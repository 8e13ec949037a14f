import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { inTransaction } from '#platform/transactions/transaction.ts'
import { setSearchStage } from '#test/support/search-stage.ts'
import type { VectorSpace } from '../../search/search-engine.ts'
import { vectorTableName } from '../../search/vector-space.ts'
import { searchEngine as engine } from '../search-engine.ts'
import { packSketches, sketchesOf } from './sketch-rows.ts'

const space: VectorSpace = { id: 'openai/small', dimensions: 2, form: 'floats' }
const table = vectorTableName(space)

/** The vector of each chunk points a little further round, from one side to the other. */
const vectorOf = (sequence: number) => {
  const angle = (sequence / 1000) * Math.PI
  return Float32Array.of(Math.cos(angle), Math.sin(angle))
}

const numbers = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index)

async function open() {
  const { db, addSource } = await setSearchStage()
  await addSource('manual')
  await sql`insert into chunks (id, source_id, content, start_offset, end_offset)
    select number, 'manual', '', 0, 0 from generate_series(1, 1000) as number`.execute(db)
  await engine.createVectors(db, space)
  return {
    db,
    pack: () => engine.createVectors(db, space),
    write: (sequences: readonly number[]) =>
      inTransaction(db, async transaction => {
        for (const sequence of sequences)
          await engine.writeVectors(transaction, space, [{ sequence: sequence, vector: vectorOf(sequence) }])
      }),
    remove: (sequences: readonly number[]) =>
      inTransaction(db, async transaction => {
        for (const sequence of sequences) await engine.removeVectors(transaction, [table], sequence)
      }),
    nearest: async (sequence: number, within?: ReturnType<typeof sql>) => {
      const found = await engine.nearestByVector(db, space, { vector: vectorOf(sequence), limit: 3, within })
      return found.map(one => one.sequence)
    },
    async rows() {
      const { rows } = await sql<{ sequences: number; gone: number }>`
        select cardinality(sequences) as sequences, cardinality(gone) as gone from ${sketchesOf(table)}
        order by first, sequences`.execute(db)
      return rows
    },
    /** The chunks that have a sketch, and those that have a vector. */
    async stored() {
      const { rows: sketches } = await sql<{ sequence: number }>`
        select sequence from ${sketchesOf(table)}, unnest(sequences) as sequence
        where sequence <> all (gone) order by sequence`.execute(db)
      const { rows: vectors } = await sql<{ sequence: number }>`
        select sequence from ${sql.table(table)} order by sequence`.execute(db)
      return { sketches: sketches.map(row => row.sequence), vectors: vectors.map(row => row.sequence) }
    },
  }
}

test('what is written is found at once, before its sketches are put together and after that', async () => {
  const { write, pack, nearest, rows } = await open()
  await write(numbers(1, 400))
  expect(await rows()).toHaveLength(400)
  expect(await nearest(200)).toEqual([200, 199, 201])
  await pack()
  expect(await rows()).toEqual([
    { sequences: 256, gone: 0 },
    { sequences: 144, gone: 0 },
  ])
  expect(await nearest(200)).toEqual([200, 199, 201])
  await write([402])
  expect(await nearest(402)).toEqual([402, 400, 399])
  await write([401])
  expect(await nearest(402)).toEqual([402, 401, 400])
})

test('what is removed is found no more, and takes no place among those that get a look', async () => {
  const { write, pack, remove, nearest, rows, stored } = await open()
  await write(numbers(1, 1000))
  await pack()
  expect(await nearest(500)).toEqual([500, 499, 501])
  await remove([500])
  expect(await nearest(500)).toEqual([499, 501, 498])
  // More than get a look, so that only those would be looked at which are not there any more.
  await remove([...numbers(101, 499), ...numbers(501, 899)])
  expect(await nearest(300)).toEqual([100, 99, 98])
  const { sketches, vectors } = await stored()
  expect(sketches).toEqual(vectors)
  expect((await rows()).every(({ sequences, gone }) => gone * 2 < sequences)).toBe(true)
  await remove([...numbers(1, 100), ...numbers(900, 1000)])
  expect(await nearest(500)).toEqual([])
  expect(await rows()).toEqual([])
})

test('a large selection has only its own chunks looked at', async () => {
  const { write, pack, nearest } = await open()
  await write(numbers(1, 1000))
  await pack()
  expect(await nearest(100, sql`(select generate_series(500, 1000))`)).toEqual([500, 501, 502])
  expect(await nearest(100, sql`(select generate_series(990, 1000))`)).toEqual([990, 991, 992])
})

test('what puts rows together leaves those to others that they have taken, and waits for nobody', async () => {
  const { db, write, pack, stored, rows } = await open()
  await write(numbers(1, 100))
  await inTransaction(db, async transaction => {
    await engine.removeVectors(transaction, [table], 50)
    await pack()
  })
  expect(await rows()).toEqual([{ sequences: 99, gone: 0 }])
  const { sketches, vectors } = await stored()
  expect(sketches).toEqual(vectors)
})

test('writers, removers and those that put together keep one sketch of each vector, all at the same time', async () => {
  const { db, write, remove, stored } = await open()
  await write(numbers(1, 300))
  const packing = async () => {
    for (let time = 0; time < 10; time += 1) await packSketches(db, table)
  }
  const writing = async (first: number) => {
    for (let start = first; start < first + 200; start += 20) await write(numbers(start, start + 19))
  }
  const removing = async () => {
    for (let start = 1; start < 300; start += 20) await remove(numbers(start, start + 9))
  }
  await Promise.all([packing(), packing(), writing(301), writing(501), removing()])
  const { sketches, vectors } = await stored()
  expect(sketches).toEqual(vectors)
  expect(vectors).toHaveLength(550)
})
