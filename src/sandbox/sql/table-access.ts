/** What an agent's SQL may do with each table of its database, the same on every engine. */

import { vectorTablePrefix } from '#storage/search/vector-space.ts'
import type { AgentTables } from '#storage/tables.ts'

/**
 * `hidden` tables cannot even be read. In `readable` ones, only the `updatable` columns may be changed, which contain
 * text that nothing else depends on.
 */
export type TableAccess =
  | { kind: 'hidden' }
  | { kind: 'readable'; updatable: readonly string[] }
  | { kind: 'writable' }

const hidden: TableAccess = { kind: 'hidden' }
const readable: TableAccess = { kind: 'readable', updatable: [] }
const writable: TableAccess = { kind: 'writable' }

const updatable = (...columns: string[]): TableAccess => ({ kind: 'readable', updatable: columns })

/** Tables that are not part of `AgentTables`. */
type OtherTables = 'chunk_text' | 'kysely_migration' | 'kysely_migration_lock'

/**
 * A new table does not compile without a line here. Tables that control permissions, or are derived from others, are
 * not writable.
 */
export const tableAccess: Record<keyof AgentTables | OtherTables, TableAccess> = {
  // Their number, order and lock are managed by the service: an additional or missing row would break its protocol.
  conversations: updatable('title'),
  // Text known to come from outsiders must not be moved to where that is unknown.
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

/** SQLite's schema tables: table definitions are no secret. */
const catalogues = new Set(['sqlite_master', 'sqlite_schema'])
/** About SQLite, not only about this database. */
const internalTables = new Set(['dbstat', 'sqlite_dbpage', 'sqlite_stmt'])
/** A full-text or vector table stores its rows in other tables, whose names begin with its own. */
const internalPrefixes = ['sqlite_', 'chunk_text_', vectorTablePrefix]

/** Tables that the service does not know were created for the agent by the operator, so the agent may use them. */
export function accessTo(table: string): TableAccess {
  const name = table.toLowerCase()
  const rule = known.get(name)
  if (rule !== undefined) return rule
  if (catalogues.has(name)) return readable
  const isInternal = internalTables.has(name) || internalPrefixes.some(prefix => name.startsWith(prefix))
  return isInternal ? hidden : writable
}

/** Whether the table appears where an agent's tables are listed. */
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
