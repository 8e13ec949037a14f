import { type QueryExecutorProvider, sql } from 'kysely'
import type { Catalogue } from '../../transfer/catalogue.ts'
import { listVectorTables, readVectors, writeVectors } from '../vectors/stored-vectors.ts'
import { createVectorTable, vectorTables } from '../vectors/vectors.ts'

export const catalogue: Catalogue = {
  tables,
  columns,
  lastNumber,
  setLastNumber,
  storesNul: true,
  vectorTables: listVectorTables,
  createVectorTable,
  readVectors,
  writeVectors,
}

/**
 * Lists tables, without those in which a virtual table stores its rows (not all of which are marked as such),
 * and without those of sketches, which are written together with their vectors.
 */
async function tables(db: QueryExecutorProvider): Promise<string[]> {
  const { rows } = await sql<{ name: string; type: string }>`
    select name, type from pragma_table_list
    where schema = 'main' and type in ('table', 'virtual') and name not like 'sqlite!_%' escape '!'
  `.execute(db)
  const virtual = rows.filter(({ type }) => type === 'virtual').map(({ name }) => `${name}_`)
  const vectors = (await vectorTables(db)).map(name => `${name}_`)
  const parts = [...virtual, ...vectors]
  return rows.map(({ name }) => name).filter(name => !parts.some(prefix => name.startsWith(prefix)))
}

async function columns(db: QueryExecutorProvider, table: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select name from pragma_table_info(${table})`.execute(db)
  return rows.map(({ name }) => name)
}

async function lastNumber(db: QueryExecutorProvider, table: string): Promise<number> {
  const { rows } = await sql<{ seq: number }>`select seq from sqlite_sequence where name = ${table}`.execute(
    db,
  )
  return rows[0]?.seq ?? 0
}

async function setLastNumber(
  db: QueryExecutorProvider,
  table: string,
  _column: string,
  last: number,
): Promise<void> {
  await sql`delete from sqlite_sequence where name = ${table}`.execute(db)
  await sql`insert into sqlite_sequence (name, seq) values (${table}, ${BigInt(last)})`.execute(db)
}
