/**
 * The state of a full-text index: its number of chunks, their total length, and a name unique to this state.
 * A search reads it first, so that its thread knows if its cache of the index is still valid.
 *
 * Each transaction that changes the index adds a row, so that writers need not wait for one another; the
 * state is the sum of the rows.
 */
import { type QueryExecutorProvider, sql } from 'kysely'

export interface IndexState {
  /**
   * Identifies the index by the start time of the server and the ids of database and table: names can be
   * reused. The start time matters because a replacement for a lost server can reuse chunk numbers.
   */
  index: string
  /** Unique among all states of the index. */
  name: string
  chunks: number
  /** Total terms of all chunks. */
  length: number
}

/** Creates the state, in the migration that creates the tables. */
export async function createIndexState(db: QueryExecutorProvider): Promise<void> {
  await sql`create table chunk_text_totals (
    writer xid8 primary key,
    id uuid not null default gen_random_uuid(),
    chunks integer not null,
    length bigint not null
  )`.execute(db)
  // The triggers cover every change of the index, including the removal of a source with its chunks.
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

/** Number of rows up to which they take next to no time to read. */
export const fewIndexRows = 64

/**
 * Merges the rows if there are many, and then returns true; rows that another transaction has locked are left
 * to it.
 */
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
