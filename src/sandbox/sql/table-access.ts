/** The rights of an agent's SQL on each table of its database, the same on every engine. */

import { vectorTablePrefix } from '#storage/search/vector-space.ts'
import { hidden, readable, type TableAccess, writable } from '#storage/tables/table-set.ts'
import { agentRules } from '#storage/tables.ts'

/** The service's own tables. */
export const knownTables: ReadonlyMap<string, TableAccess> = new Map<string, TableAccess>([
  ...Object.entries(agentRules).map(([table, rules]) => [table, rules.sql] as const),
  ['kysely_migration', hidden],
  ['kysely_migration_lock', hidden],
])

/** SQLite's schema tables: table definitions are no secret. */
const catalogues = new Set(['sqlite_master', 'sqlite_schema'])
/** Tables about SQLite, not only about this database. */
const internalTables = new Set(['dbstat', 'sqlite_dbpage', 'sqlite_stmt'])
/** A full-text or vector table stores its rows in other tables, whose names begin with its own. */
const internalPrefixes = ['sqlite_', 'chunk_text_', vectorTablePrefix]

/** Returns the rights on a table. The operator created unknown tables for the agent, which may use them. */
export function accessTo(table: string): TableAccess {
  const name = table.toLowerCase()
  const rule = knownTables.get(name)
  if (rule !== undefined) return rule
  if (catalogues.has(name)) return readable
  const isInternal = internalTables.has(name) || internalPrefixes.some(prefix => name.startsWith(prefix))
  return isInternal ? hidden : writable
}

/** Returns true if the table appears in lists of an agent's tables. */
export function isListed(table: string): boolean {
  return accessTo(table).kind !== 'hidden' && !catalogues.has(table.toLowerCase())
}

export type Change = 'insert' | 'update' | 'delete'

/** @param column the column of an update. */
export function mayChange(table: string, change: Change, column = ''): boolean {
  const access = accessTo(table)
  if (access.kind === 'readable')
    return change === 'update' && access.updatable.includes(column.toLowerCase())
  return access.kind === 'writable'
}
