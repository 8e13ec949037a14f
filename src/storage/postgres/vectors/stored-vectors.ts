/** Reads and writes the tables of vectors, for copying them. Each keeps the type that it was created with. */
import { type QueryExecutorProvider, sql } from 'kysely'
import { floatsOf } from '../../search/exact-similarity.ts'
import type { StoredVector, Vector } from '../../search/search-engine.ts'
import type { VectorTable } from '../../transfer/catalogue.ts'
import { type Column, columnOf, vectorTables, writeTo } from './vectors.ts'

export async function listVectorTables(db: QueryExecutorProvider): Promise<VectorTable[]> {
  const tables: VectorTable[] = []
  for (const name of await vectorTables(db)) {
    const { type } = await requireColumn(db, name)
    const [, dimensions] = /_(\d+)_/.exec(name) ?? []
    tables.push({ name, dimensions: Number(dimensions), form: type === 'bit' ? 'bits' : 'floats' })
  }
  return tables
}

export async function readVectors(
  db: QueryExecutorProvider,
  { name }: VectorTable,
  sequences: readonly number[],
): Promise<StoredVector[]> {
  const { type } = await requireColumn(db, name)
  const { rows } = await sql<{ sequence: number; embedding: string | Buffer }>`
    select sequence, embedding from ${sql.table(name)} where sequence = any(${sequences}) order by sequence
  `.execute(db)
  return rows.map(({ sequence, embedding }) => ({ sequence, vector: vectorOf(type, embedding) }))
}

/** The driver returns bytes as a buffer, and values of other types as text. */
function vectorOf(type: Column['type'], value: string | Buffer): Vector {
  if (typeof value !== 'string') return floatsOf(value)
  return type === 'bit' ? bitsOf(value) : Float32Array.from(JSON.parse(value) as number[])
}

/** @param digits one per bit. */
function bitsOf(digits: string): Uint8Array {
  return Uint8Array.from({ length: digits.length / 8 }, (_, index) =>
    Number.parseInt(digits.slice(index * 8, index * 8 + 8), 2),
  )
}

/** @param rows ordered by sequence. */
export async function writeVectors(
  db: QueryExecutorProvider,
  { name, form }: VectorTable,
  rows: readonly StoredVector[],
): Promise<void> {
  await writeTo(db, { name, form, column: await requireColumn(db, name) }, rows)
}

async function requireColumn(db: QueryExecutorProvider, name: string): Promise<Column> {
  const column = await columnOf(db, name)
  if (column === undefined) throw new Error(`there is no table of vectors ${name}`)
  return column
}
