/**
 * The vectors of an agent's chunks, in two tables for each embedding in use: the vectors themselves, and their
 * sketches, many in a row, which a search scans. See `search-engine.ts` for the contract of each function.
 */
import { type QueryExecutorProvider, type RawBuilder, sql } from 'kysely'
import type { StoredVector, Vector, VectorSpace } from '../../search/search-engine.ts'
import { sketchBytes } from '../../search/sketch-bits.ts'
import {
  checkDimensions,
  hasDirection,
  vectorTableName,
  vectorTablePrefix,
} from '../../search/vector-space.ts'
import { quoted } from '../quoted.ts'
import { runText } from '../run-text.ts'
import { blockBytes, noBlock, sketchesPerBlock } from './kept-sketches.ts'
import { sketchOf } from './sketches.ts'

const suffix = '_sketches'

type TableOptions = Pick<VectorSpace, 'dimensions' | 'form'> & { name: string }

export async function createVectors(db: QueryExecutorProvider, space: VectorSpace): Promise<void> {
  await createVectorTable(db, { ...space, name: vectorTableName(space) })
}

/** The column's type is the form for `stored-vectors.ts`; to SQLite all of them are blobs. */
export async function createVectorTable(
  db: QueryExecutorProvider,
  { name, form }: TableOptions,
): Promise<void> {
  const sketches = sketchesOf(name)
  await sql`create table if not exists ${sketches} (
    block integer primary key, changed integer not null, sketches blob not null)`.execute(db)
  await sql`create index if not exists ${sql.table(`${name}_changes`)} on ${sketches} (changed)`.execute(db)
  await sql`insert or ignore into ${sketches} values (${noBlock}, abs(random() % 1000000000000), x'')`.execute(
    db,
  )
  // The vectors' table comes last, because it makes searches aware of the space.
  await sql`create table if not exists ${sql.table(name)} (
    sequence integer primary key, embedding ${sql.raw(`${form}_blob`)} not null)`.execute(db)
}

export async function writeVectors(
  db: QueryExecutorProvider,
  space: VectorSpace,
  vectors: readonly StoredVector[],
): Promise<void> {
  for (const { sequence, vector } of vectors) {
    checkDimensions(space, vector)
    if (hasDirection(space, vector))
      await writeTo(db, { ...space, name: vectorTableName(space) }, sequence, vector)
  }
}

/** Accepts any vector, because copied data has to be identical. */
export async function writeTo(
  db: QueryExecutorProvider,
  { name, form }: Pick<TableOptions, 'name' | 'form'>,
  sequence: number,
  vector: Vector,
): Promise<void> {
  const bytes = new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength)
  await runText(db, `insert into ${quoted(name)} (sequence, embedding) values (?, ?)`, sequence, bytes)
  await replaceSketch(db, name, sequence, sketchOf({ form }, vector))
}

/** Replaces a sketch. In a block without sketches, which is stored empty, the other entries become zeros. */
async function replaceSketch(
  db: QueryExecutorProvider,
  table: string,
  sequence: number,
  sketch: Uint8Array,
): Promise<void> {
  const sketches = quoted(`${table}${suffix}`)
  const block = Math.floor(sequence / sketchesPerBlock)
  const before = (sequence - block * sketchesPerBlock) * sketchBytes
  const rest = blockBytes - before - sketchBytes
  // `||` yields text, so the result has to be cast to a blob.
  await runText(
    db,
    `insert into ${sketches} values (?1, (select max(changed) + 1 from ${sketches}), cast(
        zeroblob(?2) || ?3 || zeroblob(?4) as blob))
      on conflict (block) do update set changed = excluded.changed, sketches =
        iif(length(sketches) = 0, excluded.sketches, cast(substr(sketches, 1, ?2) || ?3 ||
          substr(sketches, ?2 + ${sketchBytes + 1}) as blob))`,
    block,
    before,
    sketch,
    rest,
  )
}

export async function removeVectors(
  db: QueryExecutorProvider,
  tables: readonly string[],
  sequence: number,
): Promise<void> {
  for (const table of tables) {
    const { rows } = await sql`
      delete from ${sql.table(table)} where sequence = ${sequence} returning sequence`.execute(db)
    if (rows.length === 0) continue
    await replaceSketch(db, table, sequence, new Uint8Array(sketchBytes))
    // The row itself stays, to report the change to threads that have cached the block.
    await sql`update ${sketchesOf(table)} set sketches = x''
      where block = ${Math.floor(sequence / sketchesPerBlock)} and sketches = zeroblob(${blockBytes})`.execute(
      db,
    )
  }
}

export async function vectorTables(db: QueryExecutorProvider): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select name from sqlite_schema where type = 'table'
    and substr(name, 1, ${vectorTablePrefix.length}) = ${vectorTablePrefix} and name not like '%!_sketches' escape '!'
    order by name
  `.execute(db)
  return rows.map(row => row.name)
}

/** Returns the table with the sketches of a table of vectors. */
export function sketchesOf(table: string): RawBuilder<unknown> {
  return sql.table(`${table}${suffix}`)
}
