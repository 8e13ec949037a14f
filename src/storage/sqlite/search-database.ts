import { statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { Kysely } from 'kysely'
import { migrate } from '../migrate.ts'
import { onceIdle } from '../search/once-idle.ts'
import type { SearchDatabase } from '../search/search-engine.ts'
import { type AgentTables, agentTables, migrationsOf } from '../tables.ts'
import {
  createPreparedStatements,
  createSqliteDialect,
  type PreparedStatements,
} from './connections/dialect.ts'
import { type OpenOptions, openDatabase } from './connections/open.ts'
import { tryUntilFree } from './connections/retry.ts'
import { schemaParts } from './schema-parts.ts'
import { searchEngine } from './search-engine.ts'

/** Milliseconds to wait for other connections that open or close the file. */
const timeout = 10_000

/** A read-only connection, with its prepared statements. */
interface Reader {
  database: DatabaseSync
  prepared: PreparedStatements
  file: string
}

/** Readers by path, the last used last: opening and preparing take longer than most searches. */
const readers = new Map<string, Reader>()
const readersKept = 3
/** Cache in KiB: one search reads some hundred places of its file, all searches together most of it. */
const usualCache = 8 * 1024
/** Max KiB of a file to cache as a whole while it is the last searched; larger ones gain nothing from it. */
const smallFile = 32 * 1024
let last: Reader | undefined
const inUse = onceIdle(() => closeAllBut(0))

/**
 * Opens an agent's file for a worker. For reading, it must exist; destroying `db` then leaves the connection open for
 * the next one in this thread to use the file.
 */
export async function openSearchDatabase(
  path: string,
  { readOnly }: { readOnly: boolean },
): Promise<SearchDatabase> {
  if (readOnly) return await openReader(path)
  const dialect = createSqliteDialect({ database: await open(path, {}) })
  return { db: new Kysely<AgentTables>({ dialect }), engine: searchEngine }
}

/** Creates a database in memory; no other connection waits for its transactions. */
export async function createSearchDatabase(): Promise<SearchDatabase> {
  const database = openDatabase(':memory:', { synchronous: 'normal' })
  const db = new Kysely<AgentTables>({ dialect: createSqliteDialect({ database }) })
  await migrate(db, migrationsOf(agentTables, schemaParts))
  return { db, engine: { ...searchEngine, singleWriter: false } }
}

async function openReader(path: string): Promise<SearchDatabase> {
  inUse()
  closeReplaced()
  const cachedReader = readers.get(path)
  readers.delete(path)
  const reader = cachedReader ?? (await newReader(path))
  giveCache(reader, path)
  const dialect = createSqliteDialect({ ...reader, onDestroy: () => giveBack(path, reader) })
  return { db: new Kysely<AgentTables>({ dialect }), engine: searchEngine }
}

async function newReader(path: string): Promise<Reader> {
  // Read before opening, so that a file that replaces this one meanwhile is not mistaken for it later.
  const file = fileAt(path)
  // A reader cannot retry within its transaction, so SQLite waits for it; a writer waits before its transaction.
  const database = await open(path, { readOnly: true, busyTimeout: timeout, cacheSize: usualCache })
  return { database, prepared: createPreparedStatements(), file }
}

function giveCache(reader: Reader, path: string): void {
  if (reader === last) return
  if (last?.database.isOpen) last.database.exec(`pragma cache_size = -${usualCache}`)
  // The file might have been deleted meanwhile.
  const { size } = statSync(path, { throwIfNoEntry: false }) ?? { size: 0 }
  if (size <= smallFile * 1024) reader.database.exec(`pragma cache_size = -${smallFile}`)
  last = reader
}

function open(path: string, options: Omit<OpenOptions, 'synchronous'>): Promise<DatabaseSync> {
  return tryUntilFree(() => openDatabase(path, { ...options, synchronous: 'normal' }), timeout)
}

/**
 * Identifies the file at the path: an agent can be deleted and another one get its path. An open file keeps
 * its inode number.
 */
function fileAt(path: string): string {
  const file = statSync(path, { throwIfNoEntry: false })
  return file === undefined ? '' : `${file.dev}:${file.ino}`
}

function giveBack(path: string, reader: Reader): void {
  readers.get(path)?.database.close()
  readers.delete(path)
  readers.set(path, reader)
  closeAllBut(readersKept)
}

/** Closes replaced files: the space of a deleted file is freed only when no process has it open any more. */
function closeReplaced(): void {
  for (const [path, { database, file }] of readers) {
    if (file === fileAt(path)) continue
    readers.delete(path)
    database.close()
  }
}

function closeAllBut(count: number): void {
  for (const [path, { database }] of readers) {
    if (readers.size <= count) return
    readers.delete(path)
    database.close()
  }
}
