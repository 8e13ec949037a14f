/**
 * Nearest neighbours among the vectors of an agent's chunks, in one table for each embedding in use. The contract of each
 * function stands in `search-engine.ts`.
 *
 * Bits are compared by what PostgreSQL has of itself. Floats are compared by the extension pgvector where the server has
 * it, and else one by one where the search runs; a table stays as it was made.
 */
import type { QueryExecutorProvider, RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { Found, NearestQuery, Vector, VectorSpace } from '../search-engine.ts'
import {
  checkDimensions,
  hasDirection,
  similarityOf,
  vectorTableName,
  vectorTablePrefix,
} from '../vector-space.ts'
import { isDuplicate } from './errors.ts'
import { nearestAmongBytes, toBytes } from './exact-scan.ts'
import { extensionSchema } from './vector-extension.ts'

/** How a table keeps its vectors, and the schema that its type and the type's operators are in. */
export interface Column {
  type: 'bit' | 'bytea' | 'vector'
  schema: string
}

export async function createVectors(db: QueryExecutorProvider, space: VectorSpace): Promise<void> {
  await createVectorTable(db, { ...space, name: vectorTableName(space) })
}

type TableOptions = Pick<VectorSpace, 'dimensions' | 'form'>

/** @param table its `name` is what `vectorTables` would tell. */
export async function createVectorTable(
  db: QueryExecutorProvider,
  table: TableOptions & { name: string },
): Promise<void> {
  if ((await columnOf(db, table.name)) !== undefined) return
  const type = await newType(db, table)
  try {
    await sql`create table if not exists ${sql.table(table.name)} (
      sequence bigint primary key references chunks (sequence) on delete cascade,
      embedding ${type} not null
    )`.execute(db)
  } catch (error) {
    // Another writer was faster.
    if (!isDuplicate(error)) throw error
  }
}

async function newType(db: QueryExecutorProvider, table: TableOptions): Promise<RawBuilder<unknown>> {
  const dimensions = sql.lit(table.dimensions)
  if (table.form === 'bits') return sql`bit(${dimensions})`
  const schema = await extensionSchema(db)
  return schema === undefined ? sql`bytea storage external` : sql`${sql.id(schema, 'vector')}(${dimensions})`
}

export async function writeVector(
  db: QueryExecutorProvider,
  space: VectorSpace,
  sequence: number,
  vector: Vector,
): Promise<void> {
  checkDimensions(space, vector)
  if (!hasDirection(space, vector)) return
  const column = await columnOf(db, vectorTableName(space))
  if (column === undefined) throw new Error(`there is no table for the vectors of ${space.id}`)
  await sql`insert into ${tableOf(space)} (sequence, embedding) values (${sequence}, ${vectorParameter(column, vector)})`.execute(
    db,
  )
}

export async function removeVectors(
  db: QueryExecutorProvider,
  tables: readonly string[],
  sequence: number,
): Promise<void> {
  for (const table of tables) {
    await sql`delete from ${sql.table(table)} where sequence = ${sequence}`.execute(db)
  }
}

export async function vectorTables(db: QueryExecutorProvider): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relnamespace = current_schema()::regnamespace and relkind = 'r' and starts_with(relname, ${vectorTablePrefix})
    order by relname
  `.execute(db)
  return rows.map(row => row.name)
}

export async function nearestByVector(
  db: QueryExecutorProvider,
  space: VectorSpace,
  query: NearestQuery,
): Promise<Found[]> {
  const { vector, limit, within } = query
  checkDimensions(space, vector)
  if (!hasDirection(space, vector)) return []
  const column = await columnOf(db, vectorTableName(space))
  if (column === undefined) return []
  if (column.type === 'bytea') return await nearestAmongBytes(db, { space, table: tableOf(space) }, query)
  const filter = within === undefined ? sql`` : sql`where sequence in ${within}`
  const { rows } = await sql<{ sequence: number; distance: number }>`
    select sequence, ${distanceTo(column, vector)} as distance from ${tableOf(space)}
    ${filter} order by distance, sequence limit ${limit}
  `.execute(db)
  return rows.map(({ sequence, distance }) => ({ sequence, similarity: similarityOf(space, distance) }))
}

/** Undefined where there is no such table. */
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

function distanceTo(column: Column, vector: Vector): RawBuilder<number> {
  const value = vectorParameter(column, vector)
  if (column.type === 'bit') return sql`bit_count(embedding # ${value})`
  return sql`embedding operator(${sql.id(column.schema)}.<=>) ${value}`
}

export function vectorParameter({ type, schema }: Column, vector: Vector): RawBuilder<unknown> {
  if (type === 'bit') return sql`${`x${Buffer.from(vector).toString('hex')}`}`
  if (type === 'bytea') return sql`${toBytes(vector)}`
  return sql`${`[${vector.join(',')}]`}::${sql.id(schema, 'vector')}`
}

function tableOf(space: VectorSpace): RawBuilder<unknown> {
  return sql.table(vectorTableName(space))
}
