import type { PostgresPool, PostgresPoolClient } from 'kysely'
import type { Pool, PoolClient, PoolConfig } from 'pg'
import pg from 'pg'
import { TransactionConflict } from '#platform/transaction.ts'
import { isConflict, isUnanswered } from './errors.ts'
import { withReadAhead } from './read-ahead.ts'

/** In milliseconds. */
const connectTimeout = 10_000
const statementTimeout = 30_000
const idleTransactionTimeout = 30_000
/** After the server's own limit: what has not answered by then is a connection that was cut without a word. */
const answerTimeout = statementTimeout + 5_000
const keepAliveDelay = 10_000

/** PostgreSQL's 64-bit integers; those of the tables are far below 2^53. */
const bigint = 20

const types = {
  getTypeParser(type: number, format?: 'text' | 'binary') {
    return type === bigint ? Number : pg.types.getTypeParser(type, format)
  },
} as NonNullable<PoolConfig['types']>

/** Connections to one server, made when they are wanted; `onError` hears of those that break while nobody uses them. */
export function createPool(url: string, max: number, onError: (error: Error) => void): Pool {
  const pool = new pg.Pool({
    connectionString: url,
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
  // Without the connection that hangs on it, which no log has to show.
  pool.on('error', ({ message }) => onError(new Error(message)))
  // The pool hears of those that nobody uses only; of the others, their next statement tells. Unheard, it would end the process.
  pool.on('connect', client => client.on('error', () => {}))
  return pool
}

interface SchemaClient extends PostgresPoolClient {
  enter(schema: string): Promise<void>
}

const clients = new WeakMap<PoolClient, SchemaClient>()

interface SchemaOptions {
  /** Whether the server keeps the plans of statements for when they come again: for those that name all that they read. */
  keepsPlans?: boolean
  /** Whether transactions that only read ask much the same one after the other. */
  readsAhead?: boolean
}

/**
 * The pool as the users of one schema see it: its tables, by their bare names, are the only ones that a connection finds.
 * A connection remembers its schema, so that only a change of it costs a round trip. Ending this ends nothing.
 */
export function schemaPool(pool: Pool, schema: string, options: SchemaOptions = {}): PostgresPool {
  return {
    options: {},
    async connect() {
      const client = await pool.connect()
      const inSchema = clients.get(client) ?? schemaClient(client, options)
      clients.set(client, inSchema)
      try {
        await inSchema.enter(schema)
        return inSchema
      } catch (error) {
        client.release(true)
        throw error
      }
    },
    async end() {},
  }
}

/** Statements of a connection, as long as it is open. */
const mostPlans = 100

function schemaClient(
  client: PoolClient,
  { keepsPlans = false, readsAhead = false }: SchemaOptions,
): SchemaClient {
  let entered: string | undefined
  let isCut = false
  const names = new Map<string, string>()
  function named(text: string): { name?: string } {
    if (keepsPlans && names.size < mostPlans && !names.has(text)) names.set(text, `plan ${names.size}`)
    const name = names.get(text)
    return name === undefined ? {} : { name }
  }
  async function query(text: string, parameters: unknown[]) {
    try {
      return await client.query({ ...(parameters.length > 0 && named(text)), text, values: parameters })
    } catch (error) {
      isCut ||= isUnanswered(error)
      throw isConflict(error) ? new TransactionConflict(error) : error
    }
  }
  return {
    async enter(schema) {
      if (entered === schema) return
      await client.query("select set_config('search_path', $1, false)", [quoted(schema)])
      entered = schema
    },
    query: (readsAhead ? withReadAhead(query) : query) as unknown as PostgresPoolClient['query'],
    // An answer that came late would be taken for that of the next statement.
    release: (destroy?: boolean) => client.release(destroy || isCut),
  }
}

/** An identifier of SQL, whatever it holds. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
