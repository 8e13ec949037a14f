import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { seededRandom } from '#test/support/random.ts'
import { setEngineStage } from '#test/support/search-stage.ts'
import { similarityTo } from '../../search/exact-similarity.ts'
import type { NearestQuery, SearchDatabase, Vector, VectorSpace } from '../../search/search-engine.ts'
import { sketchBytes } from '../../search/sketch-bits.ts'
import { blockBytes, maxBytes, sketchesPerBlock } from './kept-sketches.ts'
import { nearestByVector } from './nearest.ts'
import { createVectors, removeVectors, vectorTables, writeVectors } from './vectors.ts'

/** So many that only some of them get an exact look. */
const count = 3000

/** Vectors around a few centres, as those of texts lie. */
function clustered(random: () => number, dimensions: number): () => Float32Array {
  const direction = (length: number) =>
    Float32Array.from({ length: dimensions }, () => (random() - 0.5) * length)
  const centres = Array.from({ length: 100 }, () => direction(1))
  return () => {
    const centre = centres[Math.floor(random() * centres.length)]
    return direction(0.8).map((value, index) => value + (centre?.[index] ?? 0))
  }
}

function signsOf(values: Float32Array): Uint8Array {
  const bits = new Uint8Array(values.length / 8)
  values.forEach((value, index) => {
    if (value > 0) bits[index >> 3] = (bits[index >> 3] ?? 0) | (1 << (index & 7))
  })
  return bits
}

async function fill(space: VectorSpace, vectorOf: () => Vector) {
  const { db } = await setEngineStage(count)
  await createVectors(db, space)
  const vectors = Array.from({ length: count }, vectorOf)
  await db.transaction().execute(async transaction => {
    for (const [index, vector] of vectors.entries())
      await writeVectors(transaction, space, [{ sequence: index + 1, vector: vector }])
  })
  /** The ten nearest by a look at every vector. */
  const exact = (query: Pick<NearestQuery, 'vector' | 'values'>) => {
    const similarity = similarityTo(space, query)
    return vectors
      .map((other, index) => ({ sequence: index + 1, similarity: similarity(new Uint8Array(other.buffer)) }))
      .sort((one, other) => other.similarity - one.similarity || one.sequence - other.sequence)
      .slice(0, 10)
  }
  return { db, exact }
}

test('of many floats nearly all of the ten nearest are found, with their exact similarities', async () => {
  const space: VectorSpace = { id: 'openai/small', dimensions: 96, form: 'floats' }
  const make = clustered(seededRandom(3).next, space.dimensions)
  const { db, exact } = await fill(space, make)
  const shares = []
  for (let asked = 0; asked < 10; asked += 1) {
    const vector = make()
    const found = await nearestByVector(db, space, { vector, limit: 10 })
    const expected = exact({ vector })
    shares.push(found.filter(one => expected.some(other => other.sequence === one.sequence)).length / 10)
    expect(found[0]).toEqual(expected[0])
  }
  expect(shares.reduce((sum, share) => sum + share, 0) / shares.length).toBeGreaterThanOrEqual(0.98)
})

test('of many bits the nearest are found by the values that the bits are the signs of', async () => {
  const space: VectorSpace = { id: 'bits', dimensions: 2048, form: 'bits' }
  const make = clustered(seededRandom(5).next, space.dimensions)
  const { db, exact } = await fill(space, () => signsOf(make()))
  const values = make()
  const query = { vector: signsOf(values), values, limit: 10 }
  const found = await nearestByVector(db, space, query)
  const common = found.filter(({ sequence }) => exact(query).some(other => other.sequence === sequence))
  expect(common.length).toBeGreaterThanOrEqual(9)
})

test('the ten nearest within a selection are looked for among all of it', async () => {
  const space: VectorSpace = { id: 'openai/small', dimensions: 32, form: 'floats' }
  const make = clustered(seededRandom(7).next, space.dimensions)
  const { db } = await fill(space, make)
  const within = sql`(select sequence from chunks where sequence % 300 = 0)`
  const found = await nearestByVector(db, space, { vector: make(), limit: 10, within })
  const sequences = found.map(({ sequence }) => sequence).toSorted((one, other) => one - other)
  expect(sequences).toEqual([300, 600, 900, 1200, 1500, 1800, 2100, 2400, 2700, 3000])
})

test('a vector that was removed is not found, and one beside it is', async () => {
  const space: VectorSpace = { id: 'openai/small', dimensions: 2, form: 'floats' }
  const { db } = await setEngineStage()
  await createVectors(db, space)
  for (const sequence of [1, 2, 3])
    await writeVectors(db, space, [{ sequence: sequence, vector: Float32Array.of(1, sequence) }])
  await removeVectors(db, await vectorTables(db), 2)
  const found = await nearestByVector(db, space, { vector: Float32Array.of(1, 0), limit: 10 })
  expect(found.map(({ sequence }) => sequence)).toEqual([1, 3])
  const { rows } = await sql<{ sketches: Uint8Array }>`
    select sketches from ${sql.table(`${(await vectorTables(db))[0]}_sketches`)} where block = 0`.execute(db)
  const entries = [1, 2, 3].map(sequence =>
    rows[0]?.sketches.slice(sequence * sketchBytes, (sequence + 1) * sketchBytes),
  )
  expect(entries.map(entry => entry?.some(byte => byte !== 0))).toEqual([true, false, true])
})

describe('what a thread keeps of a table', () => {
  const space: VectorSpace = { id: 'openai/small', dimensions: 2, form: 'floats' }
  const query = { vector: Float32Array.of(1, 0), limit: 10 }

  async function sequencesFound(db: SearchDatabase['db']): Promise<number[]> {
    return (await nearestByVector(db, space, query)).map(({ sequence }) => sequence)
  }

  test('follows each write and removal, in blocks that it knows and in new ones', async () => {
    const { db } = await setEngineStage()
    await createVectors(db, space)
    const write = (sequence: number) =>
      writeVectors(db, space, [{ sequence: sequence, vector: Float32Array.of(1, sequence) }])
    const tables = await vectorTables(db)
    expect(await sequencesFound(db)).toEqual([])
    await write(1)
    expect(await sequencesFound(db)).toEqual([1])
    await write(3)
    await write(200)
    expect(await sequencesFound(db)).toEqual([1, 3, 200])
    await write(100)
    await removeVectors(db, tables, 1)
    expect(await sequencesFound(db)).toEqual([3, 100, 200])
    await removeVectors(db, tables, 200)
    expect(await sequencesFound(db)).toEqual([3, 100])
    await write(201)
    expect(await sequencesFound(db)).toEqual([3, 100, 201])
  })

  test('is not taken for that of another table with the same name', async () => {
    const { db } = await setEngineStage()
    await createVectors(db, space)
    await writeVectors(db, space, [{ sequence: 1, vector: Float32Array.of(1, 1) }])
    expect(await sequencesFound(db)).toEqual([1])
    for (const table of await vectorTables(db)) {
      await sql`drop table ${sql.table(`${table}_sketches`)}`.execute(db)
      await sql`drop table ${sql.table(table)}`.execute(db)
    }
    await createVectors(db, space)
    await writeVectors(db, space, [{ sequence: 70, vector: Float32Array.of(1, 1) }])
    expect(await sequencesFound(db)).toEqual([70])
  })

  test('has an end, beyond which sketches are read anew each time', async () => {
    const { db } = await setEngineStage()
    await createVectors(db, space)
    const blocks = Math.ceil(maxBytes / blockBytes) + 10
    await writeVectors(db, space, [{ sequence: 1, vector: Float32Array.of(1, 1) }])
    for (const table of await vectorTables(db))
      await sql`insert into ${sql.table(`${table}_sketches`)} (block, changed, sketches)
        with recursive numbers (value) as (select 1 union all select value + 1 from numbers where value < ${blocks})
        select value, 1e15 + value, zeroblob(${blockBytes}) from numbers`.execute(db)
    const last = blocks * sketchesPerBlock
    await writeVectors(db, space, [{ sequence: last, vector: Float32Array.of(1, 2) }])
    expect(await sequencesFound(db)).toEqual([1, last])
    await writeVectors(db, space, [{ sequence: last + 1, vector: Float32Array.of(1, 3) }])
    await writeVectors(db, space, [{ sequence: 2, vector: Float32Array.of(1, 4) }])
    expect(await sequencesFound(db)).toEqual([1, last, last + 1, 2])
  })
})
