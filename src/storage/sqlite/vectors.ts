/**
 * Nearest neighbours among the vectors of an agent's chunks, in one sqlite-vec table for each embedding in use. The contract
 * of each function stands in `search-engine.ts`.
 */
import type { QueryExecutorProvider, RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { Found, NearestQuery, Vector, VectorSpace } from '../search-engine.ts'
import { hasDirection, similarityOf, vectorTableName, vectorTablePrefix } from '../vector-space.ts'

export async function createVectors(db: QueryExecutorProvider, space: VectorSpace): Promise<void> {
  await createVectorTable(db, { ...space, name: vectorTableName(space) })
}

export async function createVectorTable(
  db: QueryExecutorProvider,
  { name, dimensions, form }: Pick<VectorSpace, 'dimensions' | 'form'> & { name: string },
): Promise<void> {
  const type = form === 'bits' ? `bit[${dimensions}]` : `float[${dimensions}] distance_metric=cosine`
  await sql`create virtual table if not exists ${sql.table(name)} using vec0(embedding ${sql.raw(type)})`.execute(
    db,
  )
}

export async function writeVector(
  db: QueryExecutorProvider,
  space: VectorSpace,
  sequence: number,
  vector: Vector,
): Promise<void> {
  if (!hasDirection(space, vector)) return
  await sql`insert into ${tableOf(space)} (rowid, embedding)
    values (${BigInt(sequence)}, ${vectorParameter(space.form, vector)})`.execute(db)
}

export async function removeVectors(
  db: QueryExecutorProvider,
  tables: readonly string[],
  sequence: number,
): Promise<void> {
  for (const table of tables) {
    await sql`delete from ${sql.table(table)} where rowid = ${BigInt(sequence)}`.execute(db)
  }
}

export async function vectorTables(db: QueryExecutorProvider): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select name from sqlite_schema where type = 'table' and sql like 'create virtual table%'
    and substr(name, 1, ${vectorTablePrefix.length}) = ${vectorTablePrefix}
    order by name
  `.execute(db)
  return rows.map(row => row.name)
}

export async function nearestByVector(
  db: QueryExecutorProvider,
  space: VectorSpace,
  query: NearestQuery,
): Promise<Found[]> {
  const { vector, limit, within } = query
  if (!hasDirection(space, vector) || !(await vectorTables(db)).includes(vectorTableName(space))) return []
  const filter = within === undefined ? sql`` : sql`and rowid in ${within}`
  const { rows } = await sql<{ sequence: number; distance: number }>`
    select rowid as sequence, distance from ${tableOf(space)}
    where embedding match ${vectorParameter(space.form, vector)} and k = ${limit} ${filter} order by distance
  `.execute(db)
  return rows.map(({ sequence, distance }) => ({ sequence, similarity: similarityOf(space, distance) }))
}

function tableOf(space: VectorSpace): RawBuilder<unknown> {
  return sql.table(vectorTableName(space))
}

export function vectorParameter(form: VectorSpace['form'], vector: Vector): RawBuilder<unknown> {
  const bytes = new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength)
  return form === 'bits' ? sql`vec_bit(${bytes})` : sql`${bytes}`
}
