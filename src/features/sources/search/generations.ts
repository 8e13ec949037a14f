/**
 * Which chunks of a source search may show. Each processing writes a generation of new chunks beside the old ones; a single
 * update of the range below then shows the new and hides the old, which are removed afterwards. So search never sees half
 * a source, whatever dies when, and no transaction is long.
 */
import type { Kysely, RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { AgentTables } from '#storage/tables.ts'

interface ChunkGenerationsTable {
  source_id: string
  /** The source's chunks from this sequence to the next one are shown; none where the first is the greater. */
  first_sequence: number
  last_sequence: number
  /** 1 when the source has no other chunks than those shown. */
  settled: number
}

export interface SearchTables extends AgentTables {
  chunk_generations: ChunkGenerationsTable
}

export type SearchDatabase = Kysely<SearchTables>

const nothing = { first_sequence: 1, last_sequence: 0 }

/** Makes the table where there is none. */
export async function createGenerations(db: SearchDatabase): Promise<void> {
  await db.schema
    .createTable('chunk_generations')
    .ifNotExists()
    .addColumn('source_id', 'text', column => column.primaryKey())
    .addColumn('first_sequence', 'integer', column => column.notNull())
    .addColumn('last_sequence', 'integer', column => column.notNull())
    .addColumn('settled', 'integer', column => column.notNull())
    .execute()
}

/** To be called before chunks of the source come or go that are not to be shown. */
export async function unsettle(db: SearchDatabase, sourceId: string): Promise<void> {
  await db
    .insertInto('chunk_generations')
    .values({ source_id: sourceId, ...nothing, settled: 0 })
    .onConflict(conflict => conflict.column('source_id').doUpdateSet({ settled: 0 }))
    .execute()
}

/** To be called when no chunks of the source are left but those shown. */
export async function settle(db: SearchDatabase, sourceId: string): Promise<void> {
  await db.updateTable('chunk_generations').set({ settled: 1 }).where('source_id', '=', sourceId).execute()
}

/** Shows the chunks written since the last call instead of those shown so far, and tells how many they are. */
export async function showNewest(db: SearchDatabase, sourceId: string): Promise<number> {
  const newest = await db
    .selectFrom('chunks')
    .innerJoin('chunk_generations', 'chunk_generations.source_id', 'chunks.source_id')
    .select(({ fn }) => [
      fn.min('chunks.sequence').as('first_sequence'),
      fn.max('chunks.sequence').as('last_sequence'),
      fn.countAll<number>().as('count'),
    ])
    .where('chunks.source_id', '=', sourceId)
    .whereRef('chunks.sequence', '>', 'last_sequence')
    .executeTakeFirstOrThrow()
  const { count, ...range } = newest
  await show(db, sourceId, count === 0 ? nothing : range)
  return count
}

export async function hideAll(db: SearchDatabase, sourceId: string): Promise<void> {
  await show(db, sourceId, nothing)
}

async function show(db: SearchDatabase, sourceId: string, range: typeof nothing): Promise<void> {
  await db.updateTable('chunk_generations').set(range).where('source_id', '=', sourceId).execute()
}

/** Forgets a source that has no chunks any more. */
export async function forget(db: SearchDatabase, sourceId: string): Promise<void> {
  await db.deleteFrom('chunk_generations').where('source_id', '=', sourceId).execute()
}

/** The sequences of the source's chunks that are not shown. */
export async function hiddenChunks(db: SearchDatabase, sourceId: string): Promise<number[]> {
  const rows = await db
    .selectFrom('chunks')
    .innerJoin('chunk_generations', 'chunk_generations.source_id', 'chunks.source_id')
    .select('chunks.sequence')
    .where('chunks.source_id', '=', sourceId)
    .where(sql<boolean>`chunks.sequence not between first_sequence and last_sequence`)
    .execute()
  return rows.map(row => row.sequence)
}

/** Selects the sequences of the chunks that may be shown; undefined where every chunk may. */
export async function shownChunks(
  db: SearchDatabase,
  sourceId: string | undefined,
): Promise<RawBuilder<unknown> | undefined> {
  if (sourceId === undefined && !(await hidesAny(db))) return undefined
  const one = sourceId === undefined ? sql`` : sql`and chunks.source_id = ${sourceId}`
  return sql`(select sequence from chunks join chunk_generations using (source_id)
    where sequence between first_sequence and last_sequence ${one})`
}

async function hidesAny(db: SearchDatabase): Promise<boolean> {
  const row = await db
    .selectFrom('chunk_generations')
    .select('source_id')
    .where('settled', '=', 0)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}
