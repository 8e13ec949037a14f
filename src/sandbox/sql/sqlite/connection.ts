/** An agent's database for its SQL, in a process that has access to nothing else and can be killed. */
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { maxNesting, maxParameters } from '../limits.ts'
import { knownTables } from '../table-access.ts'
import { type Authorizer, createAuthorizer, type Rights, refusedOpening } from './authorizer.ts'
import { createOpenedTables } from './opened-tables.ts'

/** Max wait of SQLite for the write lock (ms); the process has no other work. */
const busyTimeout = 4_000
const statementsKept = 100

/** Far below SQLite's own limits: https://www.sqlite.org/limits.html */
const limits = {
  /** Bytes of a text, a blob or a row. */
  length: 10 * 1024 * 1024,
  sqlLength: 1024 * 1024,
  column: 500,
  exprDepth: maxNesting,
  compoundSelect: 50,
  vdbeOp: 1_000_000,
  functionArg: 100,
  attach: 0,
  likePatternLength: 1_000,
  variableNumber: maxParameters,
  triggerDepth: 50,
}

/** Max pages by which statements grow the file before this is checked again: 256 MiB. */
const growth = 65_536
const writesBetweenLooks = 64

export interface Connection {
  authorizer: Authorizer
  /** @throws SQLite's error for the statement, or the authorizer's refusal. */
  prepare(query: string, rights: Rights): Prepared
  /** Call it for a failed statement: SQLite reports a missing table again, even when it is back. */
  forget(query: string, rights: Rights): void
  /** Call it before a statement that writes. */
  beforeWrite(): void
  changes(): number
  close(): void
}

export interface Prepared {
  statement: StatementSync
  /** True if it returns rows, whose columns are known only at reading: tables can change before. */
  hasRows: boolean
  writes: boolean
  /** A sentence with the reason of a refusal: it opens a table that it may not read. */
  refusal: string | undefined
}

export function connect(path: string, synchronous: string): Connection {
  const database = new DatabaseSync(path, {
    timeout: busyTimeout,
    enableForeignKeyConstraints: true,
    defensive: true,
    allowExtension: false,
    readBigInts: true,
    returnArrays: true,
    allowBareNamedParameters: false,
    limits,
  })
  database.exec(`pragma trusted_schema = off; pragma cell_size_check = on; pragma temp_store = file;
    pragma cache_size = -4096; pragma synchronous = ${synchronous};`)
  keepTexts(database)
  const limitGrowth = createGrowthLimit(database)
  const changed = database.prepare('select changes()')
  const opened = createOpenedTables(database)
  const authorizer = createAuthorizer()
  let writes = 0
  limitGrowth()
  database.setAuthorizer(authorizer.decide)
  const cache = new Map<string, Prepared>()
  let cacheVersion: unknown

  /** Drops outdated statements: a changed schema can give their names another meaning. */
  function dropOutdated(): void {
    const version = authorizer.trust(opened.schemaVersion)
    if (version !== cacheVersion) cache.clear()
    cacheVersion = version
  }

  return {
    authorizer,
    beforeWrite() {
      writes += 1
      // The limit is set by a PRAGMA that statements may not use.
      if (writes % writesBetweenLooks === 0) authorizer.trust(limitGrowth)
    },
    // An array, because the connection is configured to return rows as arrays.
    changes: () => Number(Object.values(changed.get() ?? [0])[0]),
    close: () => database.close(),
    prepare(query, rights) {
      authorizer.begin(rights)
      dropOutdated()
      const key = keyOf(query, rights)
      const cached = cache.get(key)
      if (cached !== undefined) return cached
      const statement = database.prepare(query)
      const hasRows = statement.columns().length > 0
      const refusal = refusedOpening(authorizer.trust(() => opened.of(statement.sourceSQL)))
      const prepared = { statement, hasRows, writes: authorizer.writes(), refusal }
      const [oldest] = cache.size < statementsKept ? [] : cache.keys()
      if (oldest !== undefined) cache.delete(oldest)
      cache.set(key, prepared)
      return prepared
    },
    forget: (query, rights) => void cache.delete(keyOf(query, rights)),
  }
}

function keyOf(query: string, { readOnly }: Rights): string {
  return `${readOnly}${query}`
}

/** Restricts columns that may be updated to texts: their readers expect no blobs. */
function keepTexts(database: DatabaseSync): void {
  for (const [table, access] of knownTables) {
    const columns = access.kind === 'readable' ? access.updatable : []
    for (const column of columns)
      database.exec(`create temp trigger "${table} ${column}" before update of ${column} on main.${table}
        when typeof(new.${column}) <> 'text' begin select raise(abort, '${table}.${column} holds text only'); end`)
  }
}

/** Limits growth: a runaway statement that writes could fill the disk within its time limit. */
function createGrowthLimit(database: DatabaseSync): () => void {
  const pages = database.prepare('pragma page_count')
  return () => {
    const [count] = Object.values(pages.get() ?? [])
    database.exec(`pragma max_page_count = ${Number(count) + growth}`)
  }
}
