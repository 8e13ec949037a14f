import { Kysely } from 'kysely'
import type { AgentTables } from '../tables.ts'
import { parseAgentAddress } from './address.ts'
import { createPool, schemaPool } from './connections.ts'
import { createPostgresDialect } from './dialect.ts'

/** A connection of a worker's own to the database that `path` of `OpenAgent` names; the caller destroys it. */
export function openWorkerDatabase(path: string): Kysely<AgentTables> {
  const { url, schema } = parseAgentAddress(path)
  // A connection that breaks fails the query that wants it.
  const pool = createPool(url, 1, () => {})
  const inSchema = schemaPool(pool, schema)
  return new Kysely<AgentTables>({
    dialect: createPostgresDialect({ ...inSchema, end: () => pool.end() }),
  })
}
