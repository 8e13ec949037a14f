import { type QueryExecutorProvider, sql } from 'kysely'
import { vectorTablePrefix } from '../../search/vector-space.ts'
import type { Catalogue } from '../../transfer/catalogue.ts'
import { quoted } from '../connections/connections.ts'
import { isOwnRelation } from '../connections/own-relations.ts'
import { holdsSketches } from '../vectors/sketch-rows.ts'
import { listVectorTables, readVectors, writeVectors } from '../vectors/stored-vectors.ts'
import { createVectorTable } from '../vectors/vectors.ts'

export const catalogue: Catalogue = {
  tables,
  columns,
  lastNumber,
  setLastNumber,
  storesNul: false,
  vectorTables: listVectorTables,
  createVectorTable,
  readVectors,
  writeVectors,
}

async function tables(db: QueryExecutorProvider): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where ${isOwnRelation} and relkind in ('r', 'p')
      and not (starts_with(relname, ${vectorTablePrefix}) and ${holdsSketches(sql`relname`)})
      and relname not in ('chunk_text_totals', 'chunk_text_lists')
  `.execute(db)
  return rows.map(({ name }) => name)
}

async function columns(db: QueryExecutorProvider, table: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select attname as name from pg_attribute join pg_class on pg_class.oid = attrelid
    where relnamespace = current_schema()::regnamespace and relname = ${table} and attnum > 0 and not attisdropped
  `.execute(db)
  return rows.map(({ name }) => name)
}

async function lastNumber(db: QueryExecutorProvider, table: string, column: string): Promise<number> {
  const sequence = await sequenceOf(db, table, column)
  const { rows } = await sql<{ last: number }>`
    select case when is_called then last_value else 0 end as last from ${sequence}
  `.execute(db)
  return rows[0]?.last ?? 0
}

async function setLastNumber(
  db: QueryExecutorProvider,
  table: string,
  column: string,
  last: number,
): Promise<void> {
  // A sequence begins at 1, so "no number given yet" can only be expressed by `is_called` being false.
  await sql`select setval(pg_get_serial_sequence(${quoted(table)}, ${column}), ${Math.max(1, last)}, ${last > 0})`.execute(
    db,
  )
}

/** The sequence behind a column, as an SQL fragment. `pg_get_serial_sequence` parses its table argument as SQL, too. */
async function sequenceOf(db: QueryExecutorProvider, table: string, column: string) {
  const { rows } = await sql<{ name: string | null }>`
    select relname as name from pg_class
    where oid = pg_get_serial_sequence(${quoted(table)}, ${column})::regclass
  `.execute(db)
  const name = rows[0]?.name
  if (!name) throw new Error(`column ${column} of ${table} has no sequence`)
  return sql.table(name)
}
