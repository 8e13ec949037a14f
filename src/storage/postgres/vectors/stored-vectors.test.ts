import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openInProcess } from '#test/support/postgres/in-process.ts'
import { listVectorTables, readVectors, writeVectors } from './stored-vectors.ts'
import { createVectorTable } from './vectors.ts'

const numbers = [Float32Array.of(0.1, 7, -1e-30), Float32Array.of(1 / 3, -5e20, 2)]

test('vectors are read as they were written, whatever the type of their table', async () => {
  const db = await openInProcess()
  const bits = { name: 'chunk_vectors_16_bits', dimensions: 16, form: 'bits' } as const
  const bytes = { name: 'chunk_vectors_3_bytes', dimensions: 3, form: 'floats' } as const
  const extended = { name: 'chunk_vectors_3_extended', dimensions: 3, form: 'floats' } as const
  await createVectorTable(db, bits)
  await createVectorTable(db, bytes)
  await sql`create extension vector schema public`.execute(db)
  await createVectorTable(db, extended)

  const listed = await listVectorTables(db)
  expect(listed.toSorted((one, other) => one.name.localeCompare(other.name))).toEqual([bits, bytes, extended])
  for (const [table, vectors] of [
    [bits, [Uint8Array.of(0, 255), Uint8Array.of(0b10000001, 0b00000011)]],
    [bytes, numbers],
    [extended, numbers],
  ] as const) {
    const rows = vectors.map((one, index) => ({ sequence: index + 3, vector: one }))
    await writeVectors(db, table, rows)
    expect(await readVectors(db, table, [1, 2, 3, 4, 5])).toEqual(rows)
    expect(await readVectors(db, table, [4])).toEqual(rows.slice(1))
  }
  const { rows: types } = await sql<{ type: string }>`
    select pg_typeof(embedding)::text as type from chunk_vectors_3_extended limit 1`.execute(db)
  expect(types).toEqual([{ type: expect.stringMatching(/vector$/) }])
})
