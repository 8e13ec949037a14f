import { Kysely } from 'kysely'
import type { Pool } from 'pg'
import type { SearchDatabase } from '../search/search-engine.ts'
import type { AgentTables } from '../tables.ts'
import { parseAgentAddress } from './connections/address.ts'
import { createPool, schemaPool } from './connections/connections.ts'
import { createPostgresDialect } from './connections/dialect.ts'
import { searchEngine } from './search-engine.ts'

/**
 * One connection of this thread to each server, because connecting takes longer than most searches. It closes
 * after ten seconds without use, and ends with its thread.
 */
const pools = new Map<string, Pool>()

/** Opens an agent's schema for a worker; destroying `db` only returns the connection. */
export async function openSearchDatabase(address: string): Promise<SearchDatabase> {
  const { url, schema } = parseAgentAddress(address)
  // Planning a search, and sending each of its parts, takes as long as running it.
  const pool = schemaPool(poolOf(url), schema, { keepsPlans: true, readsAhead: true })
  return { db: new Kysely<AgentTables>({ dialect: createPostgresDialect(pool) }), engine: searchEngine }
}

function poolOf(url: string): Pool {
  // A connection that breaks while idle is replaced when it is needed.
  const pool = pools.get(url) ?? createPool(url, { max: 1 }, () => {})
  pools.set(url, pool)
  return pool
}
