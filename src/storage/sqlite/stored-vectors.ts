/** The tables of vectors as they are, for copying them. */
import type { QueryExecutorProvider } from 'kysely'
import { sql } from 'kysely'
import type { Vector } from '../search-engine.ts'
import type { StoredVector, VectorTable } from '../transfer/catalogue.ts'
import { vectorParameter, vectorTables } from './vectors.ts'

export async function listVectorTables(db: QueryExecutorProvider): Promise<VectorTable[]> {
  const tables: VectorTable[] = []
  for (const name of await vectorTables(db)) {
    const { rows } = await sql<{ sql: string }>`select sql from sqlite_schema where name = ${name}`.execute(
      db,
    )
    tables.push({ name, ...typeOf(rows[0]?.sql ?? '') })
  }
  return tables
}

/** As the statement says it that made the table. */
function typeOf(statement: string): Omit<VectorTable, 'name'> {
  const [, type, dimensions] = /embedding (bit|float)\[(\d+)\]/.exec(statement) ?? []
  if (dimensions === undefined) throw new Error(`not a table of vectors: ${statement}`)
  return { form: type === 'bit' ? 'bits' : 'floats', dimensions: Number(dimensions) }
}

export async function readVectors(
  db: QueryExecutorProvider,
  { name, form }: VectorTable,
  sequences: readonly number[],
): Promise<StoredVector[]> {
  const { rows } = await sql<{ sequence: number; embedding: Uint8Array }>`
    select rowid as sequence, embedding from ${sql.table(name)}
    where rowid in (select value from json_each(${JSON.stringify(sequences)})) order by rowid
  `.execute(db)
  return rows.map(({ sequence, embedding }) => ({ sequence, vector: vectorOf(form, embedding) }))
}

/** A copy, since floats must lie at multiples of four bytes. */
function vectorOf(form: VectorTable['form'], bytes: Uint8Array): Vector {
  return form === 'bits' ? bytes : new Float32Array(Uint8Array.from(bytes).buffer)
}

export async function writeVectors(
  db: QueryExecutorProvider,
  { name, form }: VectorTable,
  rows: readonly StoredVector[],
): Promise<void> {
  for (const { sequence, vector } of rows)
    await sql`insert into ${sql.table(name)} (rowid, embedding)
      values (${BigInt(sequence)}, ${vectorParameter(form, vector)})`.execute(db)
}
