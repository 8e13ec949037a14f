/**
 * The state of a full-text index: how many chunks it holds, how long they are together, and a name that no other state
 * has. A search asks for it first, so that its thread knows whether what it keeps of the index still holds.
 *
 * Each transaction that changes the index leaves a row, so that writers don't wait for one another; the rows together are
 * the state.
 */
import type { QueryExecutorProvider } from 'kysely'
import { sql } from 'kysely'

export interface IndexState {
  /**
   * Names the index, by the server since its start, the database and the table: by their numbers, as a name may come to
   * stand for another one. A server that takes the place of one that was lost may give numbers of chunks once more.
   */
  index: string
  /** Unlike that of all other states of the index. */
  name: string
  chunks: number
  /** Of all chunks together, in terms. */
  length: number
}

/** For the migration that makes the tables. */
export async function createIndexState(db: QueryExecutorProvider): Promise<void> {
  await sql`create table chunk_text_totals (
    writer xid8 primary key,
    id uuid not null default gen_random_uuid(),
    chunks integer not null,
    length bigint not null
  )`.execute(db)
  // Whoever changes the index, and be it by removing the source of its chunks.
  await sql`create function count_chunk_text() returns trigger language plpgsql set search_path from current as $$
    begin
      insert into chunk_text_totals as totals (writer, chunks, length)
      select pg_current_xact_id(), tg_argv[0]::integer * count(*), tg_argv[0]::integer * sum(length)
      from changed having count(*) > 0
      on conflict (writer) do update
      set id = excluded.id, chunks = totals.chunks + excluded.chunks, length = totals.length + excluded.length;
      return null;
    end
  $$`.execute(db)
  await sql`create trigger count_more after insert on chunk_text referencing new table as changed
    for each statement execute function count_chunk_text('1')`.execute(db)
  await sql`create trigger count_less after delete on chunk_text referencing old table as changed
    for each statement execute function count_chunk_text('-1')`.execute(db)
}

const stateQuery = `
  select concat_ws(' ', pg_postmaster_start_time(), (select oid from pg_database where datname = current_database()),
      'chunk_text'::regclass::oid) as index,
    coalesce(bit_xor(uuid_hash_extended(id, 0)), 0)::text as name,
    coalesce(sum(chunks), 0) as chunks, coalesce(sum(length), 0)::bigint as length
  from chunk_text_totals`

export async function stateOf(db: QueryExecutorProvider): Promise<IndexState> {
  const { rows } = await sql.raw<IndexState>(stateQuery).execute(db)
  const [state] = rows
  if (state === undefined) throw new Error('the state of the index gave no row')
  return state
}

/** Rows that are read in no time. */
export const fewIndexRows = 64

/** Puts the rows together where there are many, and tells whether that is so; one that somebody else takes is left to them. */
export async function packIndexState(db: QueryExecutorProvider): Promise<boolean> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from chunk_text_totals`.execute(db)
  if ((rows[0]?.count ?? 0) <= fewIndexRows) return false
  await sql`
    with taken as (
      delete from chunk_text_totals
      where writer in (select writer from chunk_text_totals for update skip locked) returning chunks, length
    )
    insert into chunk_text_totals (writer, chunks, length)
    select pg_current_xact_id(), sum(chunks), sum(length) from taken having count(*) > 0
  `.execute(db)
  return true
}
