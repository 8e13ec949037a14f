/**
 * The table in which the sketches of a table of vectors lie. A new vector's is a row of its own; rows are put together to
 * hundreds of sketches each, which a search reads through in no time, and keeps. So what is in a row under one id never
 * changes, but for the list of those of its chunks that have gone.
 */
import type { QueryExecutorProvider, RawBuilder } from 'kysely'
import { sql } from 'kysely'
import { sketchBytes } from '../../sketch-bits.ts'

/** Sketches in a row, at most. */
export const sketchesPerRow = 256
/** Rows of fewer sketches are put together with others. */
const fewSketches = 128
/** Worth the work of putting together. */
const leastPacked = 64

const suffix = '_sketches'

export function sketchesOf(table: string): RawBuilder<unknown> {
  return sql.table(`${table}${suffix}`)
}

/** Whether a table is one of these: a condition on the name that an expression tells. */
export function holdsSketches(name: RawBuilder<string>): RawBuilder<boolean> {
  return sql<boolean>`right(${name}, ${suffix.length}) = ${suffix}`
}

export async function createSketches(db: QueryExecutorProvider, table: string): Promise<void> {
  // The id is not used twice on any server, so that whoever keeps a row knows it again.
  await sql`create table if not exists ${sketchesOf(table)} (
    id uuid primary key default gen_random_uuid(),
    first bigint not null,
    last bigint not null,
    sequences bigint[] not null,
    sketches bytea not null,
    gone bigint[] not null default '{}'
  )`.execute(db)
  // They look like noise: to compress them would be in vain.
  await sql`alter table ${sketchesOf(table)} alter column sketches set storage external`.execute(db)
}

/**
 * The statement that writes the sketches of these chunks as one row.
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
  // One of which half has gone is written anew: what has gone takes as much time as what is there.
  for (const { id } of rows) if (id !== null) await putTogether(db, table, sql`select ${id}::uuid`)
}

/**
 * Puts rows of few sketches together where there are many of them. Searches and writers go on meanwhile: a row that
 * another one takes is left to that one, and a transaction that removes a chunk is done anew.
 */
export async function packSketches(db: QueryExecutorProvider, table: string): Promise<void> {
  const few = sql`cardinality(sequences) < ${fewSketches}`
  for (;;) {
    const { rows } = await sql<{ few: number }>`
      select count(*) as few from ${sketchesOf(table)} where ${few}`.execute(db)
    if ((rows[0]?.few ?? 0) < leastPacked) return
    const size = sql`sum(cardinality(sequences)) over (order by first, id)`
    const taken = await putTogether(
      db,
      table,
      sql`select id from ${sketchesOf(table)} where id in (
          select id from (select id, ${size} as size from ${sketchesOf(table)} where ${few}) as ordered
          where size <= ${sketchesPerRow}
        ) for update skip locked`,
    )
    // To wait for the others, who may in turn wait for this one, would be a deadlock.
    if (taken < 2) return
  }
}

/** Writes what is left in the rows that are selected as a single one, or none; tells how many rows that were. */
async function putTogether(
  db: QueryExecutorProvider,
  table: string,
  ids: RawBuilder<unknown>,
): Promise<number> {
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
