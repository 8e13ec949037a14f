import { Kysely } from 'kysely'
import { createSqliteDialect } from '#storage/sqlite/dialect.ts'
import { openDatabase } from '#storage/sqlite/open.ts'
import { tryUntilFree } from '#storage/sqlite/retry.ts'
import type { SearchDatabase, SearchTables } from './generations.ts'

/** Milliseconds to wait for other connections that open or close the file. */
const patience = 10_000

/**
 * A connection of the worker's own to an agent's database, for one piece of work. Opening takes less than a millisecond;
 * a connection that is kept would have to learn that its agent was deleted or made anew.
 */
export async function withAgentDatabase<Result>(
  path: string,
  { readOnly }: { readOnly: boolean },
  work: (db: SearchDatabase) => Promise<Result>,
): Promise<Result> {
  // Inside its transaction a reader can't try again, so SQLite waits for it; a writer waits before its transaction.
  const options = {
    readOnly,
    busyTimeout: readOnly ? patience : 0,
    synchronous: 'normal',
    vectors: true,
  } as const
  const database = await tryUntilFree(() => openDatabase(path, options), patience)
  const db = new Kysely<SearchTables>({ dialect: createSqliteDialect({ database }) })
  try {
    return await work(db)
  } finally {
    await db.destroy()
  }
}
