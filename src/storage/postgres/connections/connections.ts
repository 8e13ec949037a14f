import type { PostgresPool, PostgresPoolClient } from 'kysely'
import type { Pool, PoolClient, PoolConfig } from 'pg'
import pg from 'pg'
import { storageFull } from '#platform/disk.ts'
import { ConnectionLost, TransactionConflict } from '#platform/transactions/transaction.ts'
import { isConflict, isDiskFull, isLost, isUnanswered } from './errors.ts'
import { PatientPool } from './patient-pool.ts'
import { withReadAhead } from './read-ahead.ts'

/** Time limits and a delay (ms). */
const connectTimeout = 10_000
const statementTimeout = 30_000
const idleTransactionTimeout = 30_000
/** Longer than the server's own limit: a connection that has not answered by then was cut silently. */
const answerTimeout = statementTimeout + 5_000
const keepAliveDelay = 10_000

/** PostgreSQL's 64-bit integers; the tables' values are far below 2^53. */
const bigint = 20

const types = {
  getTypeParser(type: number, format?: 'text' | 'binary') {
    return type === bigint ? Number : pg.types.getTypeParser(type, format)
  },
} as NonNullable<PoolConfig['types']>

/**
 * Creates connections to one server on demand, of which `min` stay open without use; `onError` gets the
 * errors of idle ones.
 */
export function createPool(
  url: string,
  { min = 0, max }: { min?: number; max: number },
  onError: (error: Error) => void,
): Pool {
  const pool = new PatientPool({
    connectionString: url,
    min,
    max,
    types,
    application_name: 'agentstead',
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveDelay,
    allowExitOnIdle: true,
    connectionTimeoutMillis: connectTimeout,
    statement_timeout: statementTimeout,
    query_timeout: answerTimeout,
    idle_in_transaction_session_timeout: idleTransactionTimeout,
  })
  // The original error has the connection attached, which does not belong in a log.
  pool.on('error', ({ message }) => onError(new Error(message)))
  // The pool reports only idle connections; a connection in use reports its failure through the next statement. Without a
  // listener, the error would end the process.
  pool.on('connect', client => client.on('error', () => {}))
  return pool
}

interface SchemaClient extends PostgresPoolClient {
  enter(schema: string): Promise<void>
}

const clients = new WeakMap<PoolClient, SchemaClient>()

interface SchemaOptions {
  /** True if the server caches the plans of repeated statements, which must name everything they read. */
  keepsPlans?: boolean
  /** True if successive read-only transactions send much the same statements. */
  readsAhead?: boolean
}

/**
 * The pool as seen by the users of one schema: unqualified names find only its tables. A connection remembers its
 * schema, so only switching schemas costs a round trip. Ending this does not end the pool.
 */
export function schemaPool(pool: Pool, schema: string, options: SchemaOptions = {}): PostgresPool {
  return {
    options: {},
    async connect() {
      const client = await pool.connect().catch(error => Promise.reject(orLost(error)))
      const inSchema = clients.get(client) ?? schemaClient(client, options)
      clients.set(client, inSchema)
      try {
        await inSchema.enter(schema)
        return inSchema
      } catch (error) {
        client.release(true)
        throw orLost(error)
      }
    },
    async end() {},
  }
}

function orLost(error: unknown): unknown {
  return isLost(error) ? new ConnectionLost(error) : error
}

/** Max statements of an open connection whose plans are cached. */
const maxPlans = 100

/**
 * Max changes of the schema. A server remembers each table that an open connection has used: some 800 KB for
 * all tables of an agent.
 */
const maxChanges = 100

/**
 * A cached plan might have been made for a table with few rows, or without statistics. If it reads the whole
 * table, it still does so at a hundred thousand rows. Where no other way exists, the server takes a forbidden
 * scan, considers it expensive and would compile it, which takes longer than any search.
 */
const forKeptPlans = ", set_config('enable_seqscan', 'off', false), set_config('jit', 'off', false)"

function schemaClient(
  client: PoolClient,
  { keepsPlans = false, readsAhead = false }: SchemaOptions,
): SchemaClient {
  let entered: string | undefined
  let changes = 0
  let isCut = false
  const names = new Map<string, string>()
  function named(text: string): { name?: string } {
    if (keepsPlans && names.size < maxPlans && !names.has(text)) names.set(text, `plan ${names.size}`)
    const name = names.get(text)
    return name === undefined ? {} : { name }
  }
  async function query(text: string, parameters: unknown[]) {
    try {
      return await client.query({ ...(parameters.length > 0 && named(text)), text, values: parameters })
    } catch (error) {
      isCut ||= isUnanswered(error)
      if (isDiskFull(error)) throw storageFull(error)
      throw isConflict(error) ? new TransactionConflict(error) : orLost(error)
    }
  }
  return {
    async enter(schema) {
      if (entered === schema) return
      const others = keepsPlans ? forKeptPlans : ''
      await client.query(`select set_config('search_path', $1, false)${others}`, [quoted(schema)])
      entered = schema
      changes += 1
    },
    query: (readsAhead ? withReadAhead(query) : query) as unknown as PostgresPoolClient['query'],
    // A late answer would be taken for the answer to the next statement.
    release: (destroy?: boolean) => client.release(destroy || isCut || changes >= maxChanges),
  }
}

/** Quotes an SQL identifier with any content. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
