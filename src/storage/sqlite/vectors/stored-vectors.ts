/** Reads and writes the tables of vectors unchanged, for copying them. */
import { type QueryExecutorProvider, sql } from 'kysely'
import { floatsOf } from '../../search/exact-similarity.ts'
import type { StoredVector, Vector } from '../../search/search-engine.ts'
import type { VectorTable } from '../../transfer/catalogue.ts'
import { vectorTables, writeTo } from './vectors.ts'

export async function listVectorTables(db: QueryExecutorProvider): Promise<VectorTable[]> {
  const tables: VectorTable[] = []
  for (const name of await vectorTables(db)) {
    const { rows } = await sql<{ type: string }>`
      select type from pragma_table_info(${name}) where name = 'embedding'`.execute(db)
    const [, dimensions] = /_(\d+)_/.exec(name) ?? []
    const form = rows[0]?.type === 'bits_blob' ? 'bits' : 'floats'
    tables.push({ name, dimensions: Number(dimensions), form })
  }
  return tables
}

export async function readVectors(
  db: QueryExecutorProvider,
  { name, form }: VectorTable,
  sequences: readonly number[],
): Promise<StoredVector[]> {
  const { rows } = await sql<{ sequence: number; embedding: Uint8Array }>`
    select sequence, embedding from ${sql.table(name)}
    where sequence in (select value from json_each(${JSON.stringify(sequences)})) order by sequence
  `.execute(db)
  return rows.map(({ sequence, embedding }) => ({ sequence, vector: vectorOf(form, embedding) }))
}

function vectorOf(form: VectorTable['form'], bytes: Uint8Array): Vector {
  return form === 'bits' ? bytes : floatsOf(bytes)
}

export async function writeVectors(
  db: QueryExecutorProvider,
  table: VectorTable,
  rows: readonly StoredVector[],
): Promise<void> {
  for (const { sequence, vector } of rows) await writeTo(db, table, sequence, vector)
}
