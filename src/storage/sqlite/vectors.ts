/** Nearest neighbours among the vectors of an agent's chunks, in one sqlite-vec table for each embedding in use. */
import { createHash } from 'node:crypto'
import type { Expression, QueryExecutorProvider, RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { Found } from './full-text.ts'

/** The vectors of one embedding, which may be compared with one another and with no others. */
export interface VectorSpace {
  /** Names the embedding, such as `openai/text-embedding-3-small`. */
  id: string
  dimensions: number
  /**
   * `floats`: a `Float32Array`, similar by the cosine. `bits`: a `Uint8Array` with a bit a dimension, where the share of
   * bits that differ is the angle divided by π.
   */
  form: 'floats' | 'bits'
}

export type Vector = Float32Array | Uint8Array

export interface NearestQuery {
  vector: Vector
  /** At most 4096. */
  limit: number
  /** Selects the sequences of the chunks that count; all do without it. */
  within?: Expression<unknown> | undefined
}

const prefix = 'chunk_vectors_'

/** Makes the table of a space where there is none. */
export async function createVectors(db: QueryExecutorProvider, space: VectorSpace): Promise<void> {
  const type =
    space.form === 'bits' ? `bit[${space.dimensions}]` : `float[${space.dimensions}] distance_metric=cosine`
  await sql`create virtual table if not exists ${tableOf(space)} using vec0(embedding ${sql.raw(type)})`.execute(
    db,
  )
}

/** A vector of zeros points nowhere and is left out. */
export async function writeVector(
  db: QueryExecutorProvider,
  space: VectorSpace,
  sequence: number,
  vector: Vector,
): Promise<void> {
  if (!hasDirection(space, vector)) return
  await sql`insert into ${tableOf(space)} (rowid, embedding)
    values (${BigInt(sequence)}, ${parameter(space, vector)})`.execute(db)
}

/** Removes a chunk's vectors from the tables named, as `vectorTables` tells them. */
export async function removeVectors(
  db: QueryExecutorProvider,
  tables: readonly string[],
  sequence: number,
): Promise<void> {
  for (const table of tables) {
    await sql`delete from ${sql.table(table)} where rowid = ${BigInt(sequence)}`.execute(db)
  }
}

/** The tables of all spaces, those of former embeddings included. */
export async function vectorTables(db: QueryExecutorProvider): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select name from sqlite_schema where type = 'table' and sql like 'create virtual table%'
    and substr(name, 1, ${prefix.length}) = ${prefix}
  `.execute(db)
  return rows.map(row => row.name)
}

/**
 * The nearest chunks, nearest first; none of a space that has no table. What points away from the query has the
 * similarity 0.
 */
export async function nearestByVector(
  db: QueryExecutorProvider,
  space: VectorSpace,
  query: NearestQuery,
): Promise<Found[]> {
  const { vector, limit, within } = query
  if (!hasDirection(space, vector) || !(await vectorTables(db)).includes(nameOf(space))) return []
  const filter = within === undefined ? sql`` : sql`and rowid in ${within}`
  const { rows } = await sql<{ sequence: number; distance: number }>`
    select rowid as sequence, distance from ${tableOf(space)}
    where embedding match ${parameter(space, vector)} and k = ${limit} ${filter} order by distance
  `.execute(db)
  return rows.map(({ sequence, distance }) => ({ sequence, similarity: similarityOf(space, distance) }))
}

function hasDirection({ form }: VectorSpace, vector: Vector): boolean {
  return form === 'bits' || vector.some(value => value !== 0)
}

function similarityOf({ form, dimensions }: VectorSpace, distance: number): number {
  const cosine = form === 'bits' ? Math.cos((Math.PI * distance) / dimensions) : 1 - distance
  return Math.min(1, Math.max(0, cosine))
}

/** Holds a hash, since the embedding's own name may hold anything and have any length. */
function nameOf({ id, dimensions }: VectorSpace): string {
  const hash = createHash('sha256').update(id).digest('hex').slice(0, 12)
  return `${prefix}${dimensions}_${hash}`
}

function tableOf(space: VectorSpace): RawBuilder<unknown> {
  return sql.table(nameOf(space))
}

function parameter({ form }: VectorSpace, vector: Vector): RawBuilder<unknown> {
  const bytes = new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength)
  return form === 'bits' ? sql`vec_bit(${bytes})` : sql`${bytes}`
}
