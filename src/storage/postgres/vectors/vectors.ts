/**
 * The vectors of an agent's chunks, in two tables for each embedding in use: the vectors themselves, and their
 * sketches. See `search-engine.ts` for the contract of each function.
 *
 * Floats have pgvector's type if the server has the extension, and otherwise are stored as bytes; a table keeps the
 * type that it was created with.
 */
import { type QueryExecutorProvider, type RawBuilder, sql } from 'kysely'
import type { StoredVector, Vector, VectorSpace } from '../../search/search-engine.ts'
import { sketchOf } from '../../search/sketch-bits.ts'
import {
  checkDimensions,
  hasDirection,
  vectorTableName,
  vectorTablePrefix,
} from '../../search/vector-space.ts'
import { isDuplicate } from '../connections/errors.ts'
import { isOwnRelation } from '../connections/own-relations.ts'
import {
  createSketches,
  holdsSketches,
  insertSketches,
  packSketches,
  removeSketch,
  sketchesPerRow,
} from './sketch-rows.ts'
import { extensionSchema } from './vector-extension.ts'

/** The type in which a table stores its vectors, and the schema of that type and its operators. */
export interface Column {
  type: 'bit' | 'bytea' | 'vector'
  schema: string
}

/** Creates the tables. Each part of a source begins with this call, so it merges earlier sketches, too. */
export async function createVectors(db: QueryExecutorProvider, space: VectorSpace): Promise<void> {
  const name = vectorTableName(space)
  await createVectorTable(db, { ...space, name })
  await packSketches(db, name)
}

type TableOptions = Pick<VectorSpace, 'dimensions' | 'form'>

/** Max attempts, because others can create the tables concurrently. */
const attempts = 3

/** @param table its `name` is one that `vectorTables` lists. */
export async function createVectorTable(
  db: QueryExecutorProvider,
  table: TableOptions & { name: string },
): Promise<void> {
  for (let attempt = 1; (await columnOf(db, table.name)) === undefined; attempt += 1) {
    try {
      // Sketches come first, so that wherever there are vectors, their sketches have a place.
      await createSketches(db, table.name)
      await createTable(db, table)
    } catch (error) {
      if (!isDuplicate(error) || attempt === attempts) throw error
    }
  }
}

async function createTable(db: QueryExecutorProvider, table: TableOptions & { name: string }): Promise<void> {
  const type = await newType(db, table)
  await sql`create table if not exists ${sql.table(table.name)} (
    sequence bigint primary key references chunks (sequence) on delete cascade,
    embedding ${type} not null
  )`.execute(db)
  // Vectors look like random bits: compressing them would be useless.
  if (type === bytes)
    await sql`alter table ${sql.table(table.name)} alter column embedding set storage external`.execute(db)
}

const bytes = sql`bytea`

async function newType(db: QueryExecutorProvider, table: TableOptions): Promise<RawBuilder<unknown>> {
  const dimensions = sql.lit(table.dimensions)
  if (table.form === 'bits') return sql`bit(${dimensions})`
  const schema = await extensionSchema(db)
  return schema === undefined ? bytes : sql`${sql.id(schema, 'vector')}(${dimensions})`
}

export async function writeVectors(
  db: QueryExecutorProvider,
  space: VectorSpace,
  vectors: readonly StoredVector[],
): Promise<void> {
  for (const { vector } of vectors) checkDimensions(space, vector)
  const rows = vectors.filter(({ vector }) => hasDirection(space, vector))
  if (rows.length === 0) return
  const name = vectorTableName(space)
  const column = await columnOf(db, name)
  if (column === undefined) throw new Error(`there is no table for the vectors of ${space.id}`)
  await writeTo(db, { name, column, form: space.form }, rows)
}

/** @param rows ordered by sequence. */
export async function writeTo(
  db: QueryExecutorProvider,
  { name, column, form }: Pick<VectorSpace, 'form'> & { name: string; column: Column },
  rows: readonly StoredVector[],
): Promise<void> {
  for (let start = 0; start < rows.length; start += sketchesPerRow) {
    const some = rows.slice(start, start + sketchesPerRow)
    const values = some.map(({ sequence, vector }) => sql`(${sequence}, ${vectorParameter(column, vector)})`)
    const sketches = some.map(({ sequence, vector }) => ({ sequence, sketch: sketchOf({ form }, vector) }))
    await sql`with written as (
      insert into ${sql.table(name)} (sequence, embedding) values ${sql.join(values)}
    ) ${insertSketches(name, sketches)}`.execute(db)
  }
}

export async function removeVectors(
  db: QueryExecutorProvider,
  tables: readonly string[],
  sequence: number,
): Promise<void> {
  for (const table of tables) {
    await sql`delete from ${sql.table(table)} where sequence = ${sequence}`.execute(db)
    await removeSketch(db, table, sequence)
  }
}

export async function vectorTables(db: QueryExecutorProvider): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where ${isOwnRelation} and relkind = 'r' and starts_with(relname, ${vectorTablePrefix})
      and not ${holdsSketches(sql`relname`)}
    order by relname
  `.execute(db)
  return rows.map(row => row.name)
}

/** Returns undefined if there is no such table. */
export async function columnOf(db: QueryExecutorProvider, name: string): Promise<Column | undefined> {
  const { rows } = await sql<Column>`
    select typname as type, nspname as schema from pg_class
    join pg_attribute on attrelid = pg_class.oid and attname = 'embedding'
    join pg_type on pg_type.oid = atttypid
    join pg_namespace on pg_namespace.oid = typnamespace
    where relname = ${name} and relnamespace = current_schema()::regnamespace
  `.execute(db)
  return rows[0]
}

export function vectorParameter({ type, schema }: Column, vector: Vector): RawBuilder<unknown> {
  if (type === 'bit') return sql`${`x${Buffer.from(vector).toString('hex')}`}`
  if (type === 'bytea') return sql`${toBytes(vector)}`
  return sql`${`[${vector.join(',')}]`}::${sql.id(schema, 'vector')}`
}

/** Returns a vector's bytes unchanged: copied data has to be identical. */
function toBytes(vector: Vector): Buffer {
  return Buffer.from(Float32Array.from(vector).buffer)
}
