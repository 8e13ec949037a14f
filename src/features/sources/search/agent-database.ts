import { Kysely } from 'kysely'
import { createSqliteDialect } from '#storage/sqlite/dialect.ts'
import { openDatabase } from '#storage/sqlite/open.ts'
import type { SearchDatabase, SearchTables } from './generations.ts'

/** Milliseconds for which a worker waits for a lock, as a rule one transaction of another writer. */
const busyTimeout = 10_000

/**
 * A connection of the worker's own to an agent's database, for one piece of work. Opening takes less than a millisecond;
 * a connection that is kept would have to learn that its agent was deleted or made anew.
 */
export async function withAgentDatabase<Result>(
  path: string,
  access: { readOnly: boolean },
  work: (db: SearchDatabase) => Promise<Result>,
): Promise<Result> {
  const database = openDatabase(path, { ...access, synchronous: 'normal', busyTimeout, vectors: true })
  const db = new Kysely<SearchTables>({ dialect: createSqliteDialect({ database }) })
  try {
    return await work(db)
  } finally {
    await db.destroy()
  }
}
