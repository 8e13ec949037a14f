import { type QueryExecutorProvider, sql } from 'kysely'

/** Number of the first object that is not the server's own. */
const firstOwnObject = 16_384

/**
 * Returns the setting that the operator needs so that `pg_dump`, which locks all tables at once, does not
 * fail with "out of shared memory"; undefined while there is room.
 */
export async function shortageOfLocks(db: QueryExecutorProvider): Promise<string | undefined> {
  const { rows } = await sql<{ tables: number; locks: number; slots: number }>`
    select count(*) as tables, current_setting('max_locks_per_transaction')::integer as locks,
      current_setting('max_connections')::integer + current_setting('max_prepared_transactions')::integer as slots
    from pg_class where relkind in ('r', 'p') and oid >= ${firstOwnObject}
  `.execute(db)
  const { tables = 0, locks = 0, slots = 1 } = rows[0] ?? {}
  if (tables <= locks * slots) return undefined
  return (
    `the database has ${tables} tables, and the server has room for ${locks * slots} locks, so that pg_dump may end with ` +
    `"out of shared memory": set max_locks_per_transaction to ${Math.ceil((2 * tables) / slots)} and restart the server`
  )
}
