/**
 * The vectors of an agent's chunks, in two tables for each embedding in use: the vectors themselves, and their sketches,
 * many in a row, which a search reads through. The contract of each function stands in `search-engine.ts`.
 */
import type { QueryExecutorProvider, RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { Vector, VectorSpace } from '../search-engine.ts'
import { checkDimensions, hasDirection, vectorTableName, vectorTablePrefix } from '../vector-space.ts'
import { sketchBytes, sketchOf } from './sketches.ts'

/** Sketches in a row: more are quicker to read, fewer to write. */
export const sketchesPerBlock = 128
const blockBytes = sketchesPerBlock * sketchBytes

type TableOptions = Pick<VectorSpace, 'dimensions' | 'form'> & { name: string }

export async function createVectors(db: QueryExecutorProvider, space: VectorSpace): Promise<void> {
  await createVectorTable(db, { ...space, name: vectorTableName(space) })
}

/** The column's type tells the form to `stored-vectors.ts`; to SQLite each of them is a blob. */
export async function createVectorTable(
  db: QueryExecutorProvider,
  { name, form }: TableOptions,
): Promise<void> {
  await sql`create table if not exists ${sql.table(name)} (
    sequence integer primary key, embedding ${sql.raw(`${form}_blob`)} not null)`.execute(db)
  await sql`create table if not exists ${sketchesOf(name)} (
    block integer primary key, sketches blob not null)`.execute(db)
}

export async function writeVector(
  db: QueryExecutorProvider,
  space: VectorSpace,
  sequence: number,
  vector: Vector,
): Promise<void> {
  checkDimensions(space, vector)
  if (!hasDirection(space, vector)) return
  await writeTo(db, { ...space, name: vectorTableName(space) }, sequence, vector)
}

/** Whatever the vector is, as it is part of what is copied. */
export async function writeTo(
  db: QueryExecutorProvider,
  { name, form }: Pick<TableOptions, 'name' | 'form'>,
  sequence: number,
  vector: Vector,
): Promise<void> {
  const bytes = new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength)
  await sql`insert into ${sql.table(name)} (sequence, embedding) values (${sequence}, ${bytes})`.execute(db)
  const { block, before } = placeOf(sequence)
  await sql`insert or ignore into ${sketchesOf(name)} values (${block}, zeroblob(${blockBytes}))`.execute(db)
  await replaceSketch(db, name, block, before, sketchOf({ form }, vector))
}

async function replaceSketch(
  db: QueryExecutorProvider,
  table: string,
  block: number,
  before: number,
  sketch: Uint8Array,
): Promise<void> {
  // What `||` joins is text, so that it must be told that this is none.
  await sql`update ${sketchesOf(table)} set sketches = cast(
    substr(sketches, 1, ${before}) || ${sketch} || substr(sketches, ${before + sketchBytes + 1}) as blob)
    where block = ${block}`.execute(db)
}

export async function removeVectors(
  db: QueryExecutorProvider,
  tables: readonly string[],
  sequence: number,
): Promise<void> {
  const { block, before } = placeOf(sequence)
  for (const table of tables) {
    await sql`delete from ${sql.table(table)} where sequence = ${sequence}`.execute(db)
    await replaceSketch(db, table, block, before, new Uint8Array(sketchBytes))
    await sql`delete from ${sketchesOf(table)}
      where block = ${block} and sketches = zeroblob(${blockBytes})`.execute(db)
  }
}

/** The row that a chunk's sketch is in, and the number of bytes before it. */
function placeOf(sequence: number): { block: number; before: number } {
  const block = Math.floor(sequence / sketchesPerBlock)
  return { block, before: (sequence - block * sketchesPerBlock) * sketchBytes }
}

export async function vectorTables(db: QueryExecutorProvider): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select name from sqlite_schema where type = 'table'
    and substr(name, 1, ${vectorTablePrefix.length}) = ${vectorTablePrefix} and name not like '%!_sketches' escape '!'
    order by name
  `.execute(db)
  return rows.map(row => row.name)
}

/** The table of the sketches of the vectors in that one. */
export function sketchesOf(table: string): RawBuilder<unknown> {
  return sql.table(`${table}_sketches`)
}
