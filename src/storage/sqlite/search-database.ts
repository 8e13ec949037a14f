import { Kysely } from 'kysely'
import type { SearchDatabase } from '../search-engine.ts'
import type { AgentTables } from '../tables.ts'
import { createSqliteDialect } from './dialect.ts'
import { openDatabase } from './open.ts'
import { tryUntilFree } from './retry.ts'
import { searchEngine } from './search-engine.ts'

/** Milliseconds to wait for other connections that open or close the file. */
const patience = 10_000

/** Opens the file of an agent for a worker, which must be there if it is only read. */
export async function openSearchDatabase(
  path: string,
  { readOnly }: { readOnly: boolean },
): Promise<SearchDatabase> {
  // Inside its transaction a reader can't try again, so SQLite waits for it; a writer waits before its transaction.
  const options = {
    readOnly,
    busyTimeout: readOnly ? patience : 0,
    synchronous: 'normal',
  } as const
  const database = await tryUntilFree(() => openDatabase(path, options), patience)
  return { db: new Kysely<AgentTables>({ dialect: createSqliteDialect({ database }) }), engine: searchEngine }
}
