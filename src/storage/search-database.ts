import { isAgentAddress } from './postgres/address.ts'
import type { SearchDatabase } from './search-engine.ts'

interface Options {
  readOnly: boolean
}

/**
 * Opens an agent's database in a worker thread, with the engine that its `path` (of `OpenAgent`) tells; the caller
 * destroys `db`. Here, and nowhere above, is decided which engine that is.
 */
export async function openSearchDatabase(path: string, options: Options): Promise<SearchDatabase> {
  // The other engine is not even loaded.
  if (isAgentAddress(path)) return (await import('./postgres/search-database.ts')).openSearchDatabase(path)
  return (await import('./sqlite/search-database.ts')).openSearchDatabase(path, options)
}
