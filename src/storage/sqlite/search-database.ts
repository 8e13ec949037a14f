import { statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { Kysely } from 'kysely'
import { migrate } from '../migrate.ts'
import { onceIdle } from '../search/once-idle.ts'
import type { SearchDatabase } from '../search/search-engine.ts'
import type { AgentTables } from '../tables.ts'
import { agentTables, migrationsOf } from '../tables.ts'
import type { PreparedStatements } from './connections/dialect.ts'
import { createPreparedStatements, createSqliteDialect } from './connections/dialect.ts'
import type { OpenOptions } from './connections/open.ts'
import { openDatabase } from './connections/open.ts'
import { tryUntilFree } from './connections/retry.ts'
import { schemaParts } from './schema-parts.ts'
import { searchEngine } from './search-engine.ts'

/** Milliseconds to wait for other connections that open or close the file. */
const timeout = 10_000

/** A read-only connection, with what was prepared for it. */
interface Reader {
  database: DatabaseSync
  prepared: PreparedStatements
  file: string
}

/** By path, the most recently used last: opening a file and preparing statements takes longer than most searches. */
const readers = new Map<string, Reader>()
const readersKept = 3
/** In KiB: a search reads some hundred places of its file, and those of all searches together are most of it. */
const usualCache = 8 * 1024
/** A file of at most so many KiB may be cached as a whole while it is the last one searched; of a larger one, more pages bring nothing. */
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

/** In memory; no other connection waits for its transactions. */
export async function createSearchDatabase(): Promise<SearchDatabase> {
  const database = openDatabase(':memory:', { synchronous: 'normal' })
  const db = new Kysely<AgentTables>({ dialect: createSqliteDialect({ database }) })
  await migrate(db, migrationsOf(agentTables, schemaParts))
  return { db, engine: { ...searchEngine, singleWriter: false } }
}

async function openReader(path: string): Promise<SearchDatabase> {
  inUse()
  closeReplaced()
  const kept = readers.get(path)
  readers.delete(path)
  const reader = kept ?? (await newReader(path))
  giveCache(reader, path)
  const dialect = createSqliteDialect({ ...reader, onDestroy: () => giveBack(path, reader) })
  return { db: new Kysely<AgentTables>({ dialect }), engine: searchEngine }
}

async function newReader(path: string): Promise<Reader> {
  // Before opening, so that a file that replaces this one in the meantime is not mistaken for it later.
  const file = fileAt(path)
  // A reader cannot retry within its transaction, so SQLite waits for it; a writer waits before its transaction.
  const database = await open(path, { readOnly: true, busyTimeout: timeout, cacheSize: usualCache })
  return { database, prepared: createPreparedStatements(), file }
}

function giveCache(reader: Reader, path: string): void {
  if (reader === last) return
  if (last?.database.isOpen) last.database.exec(`pragma cache_size = -${usualCache}`)
  // The file may have been deleted since.
  const { size } = statSync(path, { throwIfNoEntry: false }) ?? { size: 0 }
  if (size <= smallFile * 1024) reader.database.exec(`pragma cache_size = -${smallFile}`)
  last = reader
}

function open(path: string, options: Omit<OpenOptions, 'synchronous'>): Promise<DatabaseSync> {
  return tryUntilFree(() => openDatabase(path, { ...options, synchronous: 'normal' }), timeout)
}

/**
 * Identifies the file at the path: an agent may be deleted and another one get its path. An open file keeps its inode
 * number.
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

/** The space of a deleted file is freed only when no process has it open any more. */
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
