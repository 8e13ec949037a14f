/**
 * Kysely on `node:sqlite`. On threads that serve requests, the connection must have no busy timeout, which
 * would block the thread: instead, this dialect retries after a pause when the database is locked.
 */
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type TransactionSettings,
} from 'kysely'
import { LRUCache } from 'lru-cache'
import { takeTurns } from '#platform/event-loop/turns.ts'
import { quoted } from '../quoted.ts'
import { withKnownErrors } from './errors.ts'
import { tryUntilFree } from './retry.ts'

export interface SqliteDialectOptions {
  database: DatabaseSync
  /** Max time that a write retries while another connection holds the write lock (ms). */
  timeout?: number
  /** Called for each second that a statement has waited for other connections. */
  onBlocked?(): void
  /** Called for each statement that writes. */
  onWrite?(parameters: readonly unknown[]): void
  /** Statements prepared for `database` before. */
  prepared?: PreparedStatements
  /** Called when the Kysely instance is destroyed; without it `database` is closed then. */
  onDestroy?(): void | Promise<void>
}

export type PreparedStatements = LRUCache<string, Prepared>

const statementsKept = 64

const reading = /^\s*(?:select|with|pragma)\b/i

/** Returns true if a statement only reads, judging by its start. */
function isReading(sql: string): boolean {
  return reading.test(sql)
}

export function createPreparedStatements(): PreparedStatements {
  return new LRUCache<string, Prepared>({ max: statementsKept })
}

/** The dialect owns `database` from now on: destroying the Kysely instance closes it. */
export function createSqliteDialect({
  database,
  timeout = 10_000,
  onBlocked,
  onWrite = () => {},
  prepared = createPreparedStatements(),
  onDestroy = () => closeOnce(database),
}: SqliteDialectOptions): Dialect {
  const whenFree: WhenFree = attempt =>
    tryUntilFree(() => withKnownErrors(database, attempt), timeout, onBlocked)
  return {
    createDriver: () => createDriver(database, { whenFree, onWrite, prepared, onDestroy }),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () => adapter,
    createIntrospector: db => new SqliteIntrospector(db),
  }
}

/** Schema changes are transactional in SQLite: a migration that dies leaves nothing behind. */
class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

/** An adapter is stateless: sharing one lets all databases use the queries prepared for the engine. */
const adapter = new TransactionalSqliteAdapter()

/** Retries the attempt until no other connection blocks it. */
type WhenFree = <Result>(attempt: () => Result) => Promise<Result>

interface DriverOptions {
  whenFree: WhenFree
  onWrite(parameters: readonly unknown[]): void
  prepared: PreparedStatements
  onDestroy(): void | Promise<void>
}

function createDriver(
  database: DatabaseSync,
  { whenFree, onWrite, prepared, onDestroy }: DriverOptions,
): Driver {
  const connection = createConnection(database, { whenFree, onWrite, prepared })
  const bounds = new Map<string, StatementSync>()
  /** Begins or ends a transaction, which happens often enough to be worth preparing. */
  async function run(sql: string): Promise<void> {
    const statement = bounds.get(sql) ?? database.prepare(sql)
    bounds.set(sql, statement)
    await whenFree(() => statement.run())
  }
  // After some errors (disk full, input/output) SQLite has already rolled back by itself.
  const rollback = async () => {
    if (database.isTransaction) database.exec('rollback')
  }
  return {
    init: async () => {},
    acquireConnection: async () => connection,
    beginTransaction: (_connection, settings) => run(beginStatement(settings)),
    commitTransaction: () => run('commit'),
    rollbackTransaction: rollback,
    savepoint: async (_connection, name) => database.exec(`savepoint ${quoted(name)}`),
    rollbackToSavepoint: async (_connection, name) => database.exec(`rollback to ${quoted(name)}`),
    releaseSavepoint: async (_connection, name) => database.exec(`release ${quoted(name)}`),
    releaseConnection: rollback,
    destroy: async () => onDestroy(),
  }
}

export function closeOnce(database: DatabaseSync): void {
  if (database.isOpen) database.close()
}

/** A writer takes the write lock at once: one that upgrades later can fail halfway, and waiting would never help. */
function beginStatement({ accessMode }: TransactionSettings): string {
  return accessMode === 'read only' ? 'begin' : 'begin immediate'
}

interface Prepared {
  statement: StatementSync
  returnsRows: boolean
  writes: boolean
}

function createConnection(
  database: DatabaseSync,
  { whenFree, onWrite, prepared: cache }: Omit<DriverOptions, 'onDestroy'>,
): DatabaseConnection {
  function prepare(sql: string): Prepared {
    const cached = cache.get(sql)
    if (cached !== undefined) return cached
    const statement = database.prepare(sql)
    const returnsRows = statement.columns().length > 0
    const prepared = { statement, returnsRows, writes: !isReading(sql) }
    cache.set(sql, prepared)
    return prepared
  }

  /** Reads in turns. Kysely gives the connection to no other query, which would reset the statement. */
  async function read<Row>(begin: () => Iterator<Row>, attempt: WhenFree): Promise<QueryResult<Row>> {
    const turn = takeTurns()
    const rows: Row[] = []
    const readOn = (found: Iterator<Row>) => {
      for (let next = found.next(); !next.done; next = found.next()) {
        rows.push(next.value)
        if (turn.isOver()) return found
      }
      return undefined
    }
    let rest = await attempt(() => readOn(begin()))
    while (rest !== undefined) {
      const found = rest
      await turn.next()
      rest = withKnownErrors(database, () => readOn(found))
    }
    return { rows }
  }

  return {
    async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
      const attempt: WhenFree = database.isTransaction
        ? async work => withKnownErrors(database, work)
        : whenFree
      const { statement, returnsRows, writes } = await attempt(() => prepare(sql))
      const values = parameters.map(bindable)
      if (returnsRows && !writes)
        return await read(() => statement.iterate(...values) as unknown as Iterator<Row>, attempt)
      if (writes) onWrite(parameters)
      return await attempt(() => {
        if (returnsRows) {
          const rows = statement.all(...values) as Row[]
          return { rows, numAffectedRows: BigInt(rows.length) }
        }
        const { changes, lastInsertRowid } = statement.run(...values)
        return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) }
      })
    },

    async *streamQuery<Row>({ sql, parameters }: CompiledQuery, chunkSize: number) {
      // A separate statement: running the cached one elsewhere would reset this iteration.
      const rows = database.prepare(sql).iterate(...parameters.map(bindable)) as Iterator<Row> & Iterable<Row>
      let chunk: Row[] = []
      for (const row of rows) {
        chunk.push(row)
        if (chunk.length < chunkSize) continue
        yield { rows: chunk }
        chunk = []
      }
      if (chunk.length > 0) yield { rows: chunk }
    },
  }
}

/** `node:sqlite` accepts neither booleans, dates nor `undefined`; the tables store them as 0 and 1, ISO 8601 and null. */
function bindable(value: unknown): SQLInputValue {
  if (value === undefined) return null
  if (typeof value === 'boolean') return value ? 1 : 0
  if (value instanceof Date) return value.toISOString()
  return value as SQLInputValue
}
