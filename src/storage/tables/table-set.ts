import type { Kysely } from 'kysely'
import type { SchemaParts } from '../schema-parts.ts'

/**
 * What an agent's SQL may do with a table. `hidden` ones cannot even be read. In `readable` ones, only the `updatable`
 * columns may be changed, which contain text that nothing else depends on. Tables that control permissions, or are
 * derived from others, are not writable.
 */
export type TableAccess =
  | { kind: 'hidden' }
  | { kind: 'readable'; updatable: readonly string[] }
  | { kind: 'writable' }

export const hidden: TableAccess = { kind: 'hidden' }
export const readable: TableAccess = { kind: 'readable', updatable: [] }
export const writable: TableAccess = { kind: 'writable' }

export function updatable(...columns: string[]): TableAccess {
  return { kind: 'readable', updatable: columns }
}

/** How a table is copied when data moves to another database. */
export type TablePlan = CopiedTable | NotCopied

export interface CopiedTable {
  /** The key columns; rows are read in their order. */
  key: readonly [string, ...string[]]
  /** The column that numbers the rows by itself: the copy does not reuse the numbers of deleted rows, either. */
  numbered?: string
  /** Columns with leases of a running process, which nobody holds in the copy. */
  released?: readonly string[]
  /** In the platform database, the column with the agent's id; absent for data that belongs to no agent. */
  agent?: string
}

interface NotCopied {
  /** What is done instead of copying it. */
  instead: string
}

interface PlatformTableRules {
  copy: TablePlan
}

interface AgentTableRules extends PlatformTableRules {
  sql: TableAccess
}

/**
 * The tables of one feature: `Tables` maps their names to the columns of their rows. Its file is also loaded by processes
 * that may read no packages, so it imports types only.
 */
export interface TableSet<Tables, Rules> {
  /** By table; later tables refer to earlier ones only. */
  rules: Readonly<Record<string, Rules>>
  /** Creates them in an empty database that has the tables of all earlier sets. */
  create(db: Kysely<unknown>, parts: SchemaParts): Promise<void>
  /** Never set: it carries the type. */
  readonly rows?: Tables
}

export type AgentTableSet<Tables> = TableSet<Tables, AgentTableRules>
export type PlatformTableSet<Tables> = TableSet<Tables, PlatformTableRules>

/** Tables of each agent's own database; `Others` are tables that only an engine's own statements use. */
export function defineAgentTables<Tables, Others extends string = never>(
  set: AgentTableSet<Tables> & { rules: Record<keyof Tables | Others, AgentTableRules> },
): AgentTableSet<Tables> {
  return set
}

/** Tables of the platform database: data that belongs to no agent, or must stay out of reach of an agent's SQL. */
export function definePlatformTables<Tables>(
  set: PlatformTableSet<Tables> & { rules: Record<keyof Tables, PlatformTableRules> },
): PlatformTableSet<Tables> {
  return set
}
