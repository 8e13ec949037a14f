/**
 * The table with the sketches of a table of vectors. Sketches of vectors that are written together are a row; rows are
 * merged into rows of hundreds of sketches, which are fast to read and worth caching. The content of a row, identified by
 * its id, never changes, except for the list of its removed chunks.
 */
import { type QueryExecutorProvider, type RawBuilder, sql } from 'kysely'
import { sketchBytes } from '../../search/sketch-bits.ts'

/** Maximum number of sketches in a row. */
export const sketchesPerRow = 256
/** Rows of fewer sketches are merged. */
const fewSketches = 128
/** Min number of rows that are worth merging. */
const minPacked = 64

const suffix = '_sketches'

export function sketchesOf(table: string): RawBuilder<unknown> {
  return sql.table(`${table}${suffix}`)
}

/** Returns the condition that a table, by the expression `name`, is one of these. */
export function holdsSketches(name: RawBuilder<string>): RawBuilder<boolean> {
  return sql<boolean>`right(${name}, ${suffix.length}) = ${suffix}`
}

export async function createSketches(db: QueryExecutorProvider, table: string): Promise<void> {
  // Ids are unique across servers, so a cached row can be recognised by its id.
  await sql`create table if not exists ${sketchesOf(table)} (
    id uuid primary key default gen_random_uuid(),
    first bigint not null,
    last bigint not null,
    sequences bigint[] not null,
    sketches bytea not null,
    gone bigint[] not null default '{}'
  )`.execute(db)
  // Sketches look like random bits: compressing them would be useless.
  await sql`alter table ${sketchesOf(table)} alter column sketches set storage external`.execute(db)
}

/**
 * Returns the statement that writes the sketches of these chunks as one row.
 * @param written at least one and at most `sketchesPerRow`, in the order of their sequences.
 */
export function insertSketches(
  table: string,
  written: readonly { sequence: number; sketch: Uint8Array }[],
): RawBuilder<unknown> {
  const sequences = written.map(({ sequence }) => sequence)
  const sketches = Buffer.concat(written.map(({ sketch }) => sketch))
  return sql`insert into ${sketchesOf(table)} (first, last, sequences, sketches)
    values (${sequences[0]}, ${sequences.at(-1)}, ${sequences}, ${sketches})`
}

export async function removeSketch(
  db: QueryExecutorProvider,
  table: string,
  sequence: number,
): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    update ${sketchesOf(table)} set gone = gone || ${sequence}::bigint
    where first <= ${sequence} and last >= ${sequence} and ${sequence} = any(sequences)
    returning case when cardinality(gone) * 2 >= cardinality(sequences) then id end as id
  `.execute(db)
  // A row with half of its chunks removed is rewritten: removed ones cost as much time as the others.
  for (const { id } of rows) if (id !== null) await merge(db, table, sql`select ${id}::uuid`)
}

/**
 * Merges rows of few sketches where there are many of them. Searches and writers continue meanwhile: a row locked by
 * another transaction is left to it, and a transaction that removes a chunk is retried.
 */
export async function packSketches(db: QueryExecutorProvider, table: string): Promise<void> {
  const few = sql`cardinality(sequences) < ${fewSketches}`
  for (;;) {
    const { rows } = await sql<{ few: number }>`
      select count(*) as few from ${sketchesOf(table)} where ${few}`.execute(db)
    if ((rows[0]?.few ?? 0) < minPacked) return
    const size = sql`sum(cardinality(sequences)) over (order by first, id)`
    const taken = await merge(
      db,
      table,
      sql`select id from ${sketchesOf(table)} where id in (
          select id from (select id, ${size} as size from ${sketchesOf(table)} where ${few}) as ordered
          where size <= ${sketchesPerRow}
        ) for update skip locked`,
    )
    // Waiting for the others, which might be waiting for this one, would be a deadlock.
    if (taken < 2) return
  }
}

/** Merges the selected rows into one with their remaining sketches, or none; returns their number. */
async function merge(db: QueryExecutorProvider, table: string, ids: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ taken: number }>`
    with taken as (delete from ${sketchesOf(table)} where id in (${ids}) returning sequences, sketches, gone),
    kept as (
      select sequence, substring(sketches from (number::integer - 1) * ${sql.lit(sketchBytes)} + 1
        for ${sql.lit(sketchBytes)}) as sketch
      from taken, unnest(sequences) with ordinality as entries (sequence, number)
      where sequence <> all (gone)
    ),
    written as (
      insert into ${sketchesOf(table)} (first, last, sequences, sketches)
      select min(sequence), max(sequence), array_agg(sequence order by sequence), string_agg(sketch, '' order by sequence)
      from kept having count(*) > 0
    )
    select count(*) as taken from taken
  `.execute(db)
  return rows[0]?.taken ?? 0
}
