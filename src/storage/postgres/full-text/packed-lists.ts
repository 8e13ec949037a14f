/**
 * The table of packed lists: for each lexeme and each neighbourhood of chunks (`chunk-places.ts`), which of
 * these chunks contain the lexeme, with its frequency. A long list is a few values that are read at once; the
 * index would have to visit the row of each chunk. Lists are packed once many chunks have been added; chunks
 * added since are found through the index. Packed lists can still name removed chunks, which readers skip.
 */
import { type QueryExecutorProvider, sql } from 'kysely'
import { neighbours } from './chunk-places.ts'
import { frequencies } from './lexemes.ts'

/** The name, which is no lexeme, of the list of all chunks that the packed lists of a neighbourhood cover. */
export const allChunks = ''

/** The last bits of an entry are the position of the frequency in `frequencies`; those before them are the chunk. */
export const frequencyBits = 2

export async function createPackedLists(db: QueryExecutorProvider): Promise<void> {
  await sql`create table chunk_text_lists (
    lexeme text collate "C" not null,
    neighbourhood bigint not null,
    entries bytea not null,
    primary key (lexeme, neighbourhood)
  )`.execute(db)
}

/** Min added chunks for which packing is worthwhile: in complete neighbourhoods, and in the newest one. */
const [fewNew, fewNewest] = [512, 4096]

/** Packs the lists of neighbourhoods that have changed a lot. */
export async function packLists(db: QueryExecutorProvider): Promise<void> {
  for (const neighbourhood of await unpacked(db, fewNew, fewNewest)) await pack(db, neighbourhood)
}

/** Returns neighbourhoods with at least that many added chunks, or with half of their chunks removed. */
async function unpacked(db: QueryExecutorProvider, least: number, minNewest: number): Promise<number[]> {
  const { rows } = await sql<{ neighbourhood: number }>`
    with held as (select sequence / ${sql.lit(neighbours)} as neighbourhood, count(*) as chunks from chunk_text group by 1),
    packed as (
      select neighbourhood, octet_length(entries) / 2 as chunks from chunk_text_lists where lexeme = ${allChunks}
    )
    select neighbourhood from held full join packed using (neighbourhood)
    where coalesce(packed.chunks, 0) > 2 * coalesce(held.chunks, 0)
      or held.chunks - coalesce(packed.chunks, 0) >=
        case when neighbourhood = (select max(neighbourhood) from held)
        then ${sql.lit(minNewest)} else ${sql.lit(least)} end
    order by neighbourhood
  `.execute(db)
  return rows.map(row => row.neighbourhood)
}

/**
 * Packs in one statement, so that searches see either all old lists or all new ones; it also changes the
 * state of the index. Does nothing while another transaction packs.
 */
async function pack(db: QueryExecutorProvider, neighbourhood: number): Promise<void> {
  const first = neighbourhood * neighbours
  const classes = frequencies.map(
    (frequency, at) => sql`when ${sql.lit(String(frequency))} then ${sql.lit(at)}`,
  )
  const form = sql`case split_part(form, ' ', 2) ${sql.join(classes, sql` `)} else 0 end`
  await sql`
    with mine as materialized (
      select pg_try_advisory_xact_lock('chunk_text_lists'::regclass::oid::bigint) as is_mine
    ),
    state as (
      insert into chunk_text_totals (writer, chunks, length)
      select pg_current_xact_id(), 0, 0 from mine where is_mine
      on conflict (writer) do update set id = excluded.id
    ),
    removed as (
      delete from chunk_text_lists where neighbourhood = ${neighbourhood}::bigint and (select is_mine from mine) returning 1
    ),
    -- Counted, as the others are to be written after these are removed.
    done as (select count(*) from removed)
    insert into chunk_text_lists (lexeme, neighbourhood, entries)
    select split_part(form, ' ', 1), ${neighbourhood}::bigint,
      string_agg(int2send((((sequence - ${first}::bigint) << ${sql.lit(frequencyBits)}) | ${form})::smallint), '')
    from done, mine, chunk_text,
      unnest(array_append(array_remove(tsvector_to_array(terms), ${neighbourhoodForm(neighbourhood)}::text), ${allChunks}::text)) as form
    where is_mine and sequence >= ${first}::bigint and sequence < ${first + neighbours}::bigint
    group by 1
    on conflict do nothing
  `.execute(db)
}

/** Returns a neighbourhood's form, which its chunks have in the index; no lexeme begins with a space. */
export function neighbourhoodForm(neighbourhood: number): string {
  return ` ${neighbourhood}`
}
