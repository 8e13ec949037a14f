/** What an agent's SQL may do with each table of its database, equal on every engine. */
import type { AgentTables } from '#storage/tables.ts'
import { vectorTablePrefix } from '#storage/vector-space.ts'

/**
 * `hidden` tables can't even be read. `readable` ones may be changed in the columns of `updatable` alone, which hold text
 * that nothing else depends on.
 */
export type TableAccess =
  | { kind: 'hidden' }
  | { kind: 'readable'; updatable: readonly string[] }
  | { kind: 'writable' }

const hidden: TableAccess = { kind: 'hidden' }
const readable: TableAccess = { kind: 'readable', updatable: [] }
const writable: TableAccess = { kind: 'writable' }

const updatable = (...columns: string[]): TableAccess => ({ kind: 'readable', updatable: columns })

/** Tables that are no part of `AgentTables`. */
type OtherTables = 'chunk_text' | 'kysely_migration' | 'kysely_migration_lock'

/** A new table does not compile without a line here. Those that decide about rights, or follow from others, are not writable. */
export const tableAccess: Record<keyof AgentTables | OtherTables, TableAccess> = {
  // Their number, their order and their lock are kept by the service: a row more or less would break its protocol.
  conversations: updatable('title'),
  // What a turn knows to come from outsiders must not be moved where nobody knows it.
  messages: readable,
  sources: readable,
  chunks: readable,
  tools: readable,
  tool_credentials: hidden,
  tool_approvals: readable,
  mcp_servers: readable,
  mcp_tools: readable,
  file_parts: hidden,
  chunk_generations: hidden,
  crawl_pages: readable,
  crawl_queue: hidden,
  outbox: hidden,
  agent_facts: hidden,
  chunk_text: hidden,
  kysely_migration: hidden,
  kysely_migration_lock: hidden,
}

const known = new Map<string, TableAccess>(Object.entries(tableAccess))

/** SQLite describes its tables here: their definitions are no secret. */
const catalogues = new Set(['sqlite_master', 'sqlite_schema'])
/** Of SQLite, and not of this database alone. */
const internalTables = new Set(['dbstat', 'sqlite_dbpage', 'sqlite_stmt'])
/** A table of full text or of vectors keeps its rows in others, whose names begin like its own. */
const internalPrefixes = ['sqlite_', 'chunk_text_', vectorTablePrefix]

/** What the service does not know, the operator has made for the agent: it is the agent's to use. */
export function accessTo(table: string): TableAccess {
  const name = table.toLowerCase()
  const rule = known.get(name)
  if (rule !== undefined) return rule
  if (catalogues.has(name)) return readable
  const isInternal = internalTables.has(name) || internalPrefixes.some(prefix => name.startsWith(prefix))
  return isInternal ? hidden : writable
}

/** Whether the table is told of where an agent's tables are listed. */
export function isListed(table: string): boolean {
  return accessTo(table).kind !== 'hidden' && !catalogues.has(table.toLowerCase())
}

export type Change = 'insert' | 'update' | 'delete'

/** @param column of an update. */
export function mayChange(table: string, change: Change, column = ''): boolean {
  const access = accessTo(table)
  if (access.kind === 'readable')
    return change === 'update' && access.updatable.includes(column.toLowerCase())
  return access.kind === 'writable'
}
