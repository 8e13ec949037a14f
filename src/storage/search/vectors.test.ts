import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { setEngineStage } from '#test/support/search-stage.ts'
import type { NearestQuery, VectorSpace } from './search-engine.ts'

const floats: VectorSpace = { id: 'openai/small', dimensions: 2, form: 'floats' }
const bits: VectorSpace = { id: 'bits', dimensions: 16, form: 'bits' }

async function open(space: VectorSpace, ...vectors: number[][]) {
  const { db, engine } = await setEngineStage()
  await engine.createVectors(db, space)
  const toVector = (values: number[]) =>
    space.form === 'bits' ? Uint8Array.from(values) : Float32Array.from(values)
  for (const [index, values] of vectors.entries()) {
    await engine.writeVectors(db, space, [{ sequence: index + 1, vector: toVector(values) }])
  }
  return {
    db,
    engine,
    nearest: (values: number[], options: Pick<NearestQuery, 'within' | 'among'> & { limit?: number } = {}) =>
      engine.nearestByVector(db, space, { vector: toVector(values), limit: 10, ...options }),
  }
}

describe('nearest neighbours', () => {
  test('of floats are ordered by the cosine, whatever their length', async () => {
    const { nearest } = await open(floats, [0, 5], [1, 1], [-1, 0], [9, 0])
    expect(await nearest([2, 0])).toEqual([
      { sequence: 4, similarity: expect.closeTo(1, 6) },
      { sequence: 2, similarity: expect.closeTo(Math.SQRT1_2, 6) },
      { sequence: 1, similarity: expect.closeTo(0, 6) },
      { sequence: 3, similarity: 0 },
    ])
  })

  test('of bits are ordered by how many of them differ, a quarter of which is an angle of 45 degrees', async () => {
    const { nearest } = await open(bits, [0xff, 0x00], [0x0f, 0x00], [0x00, 0x00], [0xff, 0xff])
    expect(await nearest([0, 0])).toEqual([
      { sequence: 3, similarity: 1 },
      { sequence: 2, similarity: expect.closeTo(Math.SQRT1_2, 6) },
      { sequence: 1, similarity: expect.closeTo(0, 6) },
      { sequence: 4, similarity: 0 },
    ])
  })

  test('are as many as wanted', async () => {
    const { nearest } = await open(floats, [1, 0], [1, 0.1], [1, 0.2])
    expect((await nearest([1, 0], { limit: 2 })).map(({ sequence }) => sequence)).toEqual([1, 2])
  })

  test('are looked for within the selection, not among the nearest of all', async () => {
    const { nearest } = await open(floats, [1, 0], [1, 0.1], [0, 1])
    const within = sql`(values (3), (99))`
    expect(await nearest([1, 0], { limit: 1, within })).toMatchObject([{ sequence: 3 }])
  })

  test('of bits are looked for within the selection, too', async () => {
    const { nearest } = await open(bits, [0, 0], [0, 1], [1, 1])
    const within = sql`(values (2), (3), (99))`
    expect(await nearest([0, 0], { limit: 1, within })).toMatchObject([{ sequence: 2 }])
  })

  test.each([
    ['floats', floats],
    ['bits', bits],
  ])(
    'of %s are looked for among the chunks that are named, those left out that have no vector',
    async (_, space) => {
      const { nearest } = await open(space, [1, 1], [1, 3], [3, 1])
      expect(await nearest([1, 1], { among: [99, 3, 2] })).toMatchObject([{ sequence: 2 }, { sequence: 3 }])
      expect(await nearest([1, 1], { among: [2, 3], limit: 1 })).toMatchObject([{ sequence: 2 }])
      expect(await nearest([1, 1], { among: [] })).toEqual([])
    },
  )

  test('are none for a vector that points nowhere, which is not stored either', async () => {
    const { nearest } = await open(floats, [0, 0], [1, 0])
    expect(await nearest([0, 0])).toEqual([])
    expect(await nearest([1, 0])).toMatchObject([{ sequence: 2 }])
  })

  test('take bits that are all zero for a vector like any other', async () => {
    const { nearest } = await open(bits, [0, 0])
    expect(await nearest([0, 0])).toEqual([{ sequence: 1, similarity: 1 }])
  })

  test('refuse a vector of another length', async () => {
    const { nearest } = await open(floats, [1, 0])
    await expect(nearest([1, 0, 0])).rejects.toThrow(/dimension/i)
  })
})

describe('spaces', () => {
  test('are kept apart by their embedding, even with equal dimensions', async () => {
    const { db, engine, nearest } = await open(floats, [1, 0])
    const other = { ...floats, id: `o'ther"; drop table x; --${'x'.repeat(300)}` }
    await engine.createVectors(db, other)
    await engine.writeVectors(db, other, [{ sequence: 7, vector: Float32Array.of(1, 0) }])
    expect(await nearest([1, 0])).toMatchObject([{ sequence: 1 }])
    expect(
      await engine.nearestByVector(db, other, { vector: Float32Array.of(1, 0), limit: 5 }),
    ).toMatchObject([{ sequence: 7 }])
    expect(await engine.vectorTables(db)).toHaveLength(2)
  })

  test('that were never made have no neighbours', async () => {
    const { db, engine } = await open(floats, [1, 0])
    const unknown = { ...floats, id: 'unknown' }
    expect(await engine.nearestByVector(db, unknown, { vector: Float32Array.of(1, 0), limit: 5 })).toEqual([])
  })

  test('are made once and kept', async () => {
    const { db, engine, nearest } = await open(floats, [1, 0])
    await engine.createVectors(db, floats)
    expect(await nearest([1, 0])).toHaveLength(1)
  })
})

test('a chunk is removed from all spaces', async () => {
  const { db, engine, nearest } = await open(floats, [1, 0], [1, 0.5])
  await engine.createVectors(db, bits)
  await engine.writeVectors(db, bits, [{ sequence: 1, vector: Uint8Array.of(1, 1) }])
  await engine.removeVectors(db, await engine.vectorTables(db), 1)
  expect(await nearest([1, 0])).toMatchObject([{ sequence: 2 }])
  expect(await engine.nearestByVector(db, bits, { vector: Uint8Array.of(1, 1), limit: 5 })).toEqual([])
})
