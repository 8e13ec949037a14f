import { isAgentAddress } from '../postgres/connections/address.ts'
import type { SearchDatabase } from './search-engine.ts'

interface Options {
  readOnly: boolean
}

/**
 * Opens an agent's database in a worker thread, with the engine that its `path` (of `OpenAgent`) names; the
 * caller destroys `db`. Only this function decides on the engine.
 */
export async function openSearchDatabase(path: string, options: Options): Promise<SearchDatabase> {
  return isAgentAddress(path)
    ? (await loadPostgres()).openSearchDatabase(path)
    : (await loadSqlite()).openSearchDatabase(path, options)
}

/** Creates a database in memory that ends with its connection, for any engine of the agent. */
export async function createSearchDatabase(): Promise<SearchDatabase> {
  return (await loadSqlite()).createSearchDatabase()
}

/** The unused engine is not even loaded, and the other one is imported only once. */
const loadPostgres = once(() => import('../postgres/search-database.ts'))
const loadSqlite = once(() => import('../sqlite/search-database.ts'))

function once<Loaded>(load: () => Promise<Loaded>): () => Promise<Loaded> {
  let loaded: Promise<Loaded> | undefined
  return () => {
    loaded ??= load()
    return loaded
  }
}
