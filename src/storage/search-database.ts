import { isAgentAddress } from './postgres/address.ts'
import { openSearchDatabase as openPostgres } from './postgres/search-database.ts'
import type { SearchDatabase } from './search-engine.ts'
import { openSearchDatabase as openSqlite } from './sqlite/search-database.ts'

interface Options {
  readOnly: boolean
}

/**
 * Opens an agent's database in a worker thread, with the engine that its `path` (of `OpenAgent`) tells; the caller
 * destroys `db`. Here, and nowhere above, is decided which engine that is.
 */
export function openSearchDatabase(path: string, options: Options): Promise<SearchDatabase> {
  return isAgentAddress(path) ? openPostgres(path) : openSqlite(path, options)
}
