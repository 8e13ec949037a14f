/** On a PostgreSQL inside this process, since the server of the other tests has no pgvector. */
import { PGlite } from '@electric-sql/pglite'
import { vector } from '@electric-sql/pglite-pgvector'
import type { PostgresPoolClient } from 'kysely'
import { Kysely, sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { createPostgresDialect } from './dialect.ts'
import { listVectorTables, readVectors, writeVectors } from './stored-vectors.ts'
import { createVectorTable } from './vectors.ts'

/** Takes seconds to start. A schema with a few chunks. */
async function open() {
  const server = await PGlite.create({ extensions: { vector } })
  const client = {
    query: (text: string, parameters: unknown[]) => server.query(text, [...parameters]),
    release: () => {},
  } as unknown as PostgresPoolClient
  const pool = { options: {}, connect: async () => client, end: () => server.close() }
  const db = new Kysely<unknown>({ dialect: createPostgresDialect(pool) })
  onTestFinished(() => db.destroy())
  await sql`create schema agent`.execute(db)
  await sql`set search_path = agent`.execute(db)
  await sql`create table chunks (sequence bigint primary key)`.execute(db)
  await sql`insert into chunks select generate_series(1, 9)`.execute(db)
  return db
}

const numbers = [Float32Array.of(0.1, 7, -1e-30), Float32Array.of(1 / 3, -5e20, 2)]

test('vectors are read as they were written, whatever the type of their table', async () => {
  const db = await open()
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
}, 120_000)
