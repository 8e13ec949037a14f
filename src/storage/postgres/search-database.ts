import { Kysely } from 'kysely'
import type { Pool } from 'pg'
import type { SearchDatabase } from '../search-engine.ts'
import type { AgentTables } from '../tables.ts'
import { parseAgentAddress } from './connections/address.ts'
import { createPool, schemaPool } from './connections/connections.ts'
import { createPostgresDialect } from './connections/dialect.ts'
import { searchEngine } from './search-engine.ts'

/**
 * A connection of this thread to each server: opening one takes longer than most searches. It closes itself when nobody
 * has used it for ten seconds, and ends with its thread.
 */
const pools = new Map<string, Pool>()

/** Opens the schema of an agent for a worker; destroying `db` only gives the connection back. */
export async function openSearchDatabase(address: string): Promise<SearchDatabase> {
  const { url, schema } = parseAgentAddress(address)
  // Planning a search, and asking for each of its parts, takes as long as running it.
  const pool = schemaPool(poolOf(url), schema, { keepsPlans: true, readsAhead: true })
  return { db: new Kysely<AgentTables>({ dialect: createPostgresDialect(pool) }), engine: searchEngine }
}

function poolOf(url: string): Pool {
  // A connection that breaks while nobody uses it is made anew when it is wanted.
  const pool = pools.get(url) ?? createPool(url, 1, () => {})
  pools.set(url, pool)
  return pool
}
