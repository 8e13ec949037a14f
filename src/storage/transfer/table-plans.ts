/** How each table is copied when data moves to another database, in the order of copying, which respects foreign keys. */
import type { AgentTables, PlatformTables } from '../tables.ts'

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

type Plans<Tables, Others extends string = never> = Record<keyof Tables | Others, TablePlan>

export const platformPlans: Plans<PlatformTables> = {
  agents: { key: ['id'], agent: 'id' },
  agent_admins: { key: ['id'], agent: 'agent_id' },
  agent_credentials: { key: ['agent_id', 'name'], agent: 'agent_id' },
  agent_secrets: { key: ['agent_id', 'set_id', 'name'], agent: 'agent_id' },
  agent_removals: { instead: 'the databases that it names are not copied' },
  platform_facts: { key: ['name'] },
  wake_ups: { instead: 'made anew from the outboxes' },
  rate_limits: { instead: 'counts of a minute that is over before a service runs on the copy' },
}

export const agentPlans: Plans<AgentTables, 'chunk_text'> = {
  conversations: { key: ['id'], released: ['lock_holder', 'lock_expires_at'] },
  messages: { key: ['sequence'], numbered: 'sequence' },
  sources: { key: ['id'] },
  file_parts: { instead: 'the files are copied, wherever they are kept' },
  chunks: { key: ['sequence'], numbered: 'sequence' },
  chunk_generations: { key: ['source_id', 'document'], released: ['attempt'] },
  crawl_pages: { key: ['source_id', 'document'] },
  crawl_queue: { key: ['source_id', 'position'] },
  tools: { key: ['id'] },
  tool_credentials: { key: ['cluster', 'name'] },
  tool_approvals: { key: ['tool_call_id'] },
  mcp_servers: { key: ['id'] },
  mcp_tools: { key: ['server_id', 'name'] },
  outbox: { key: ['id'], released: ['lease_holder', 'lease_expires_at'] },
  agent_facts: { key: ['name'] },
  chunk_text: { instead: 'made anew from the chunks' },
}

/** Written by the migrations themselves, which have run on both sides. */
const migrationTables = ['kysely_migration', 'kysely_migration_lock']

/** The tables that are to be copied, in order. */
export function copiedTables(plans: Record<string, TablePlan>): [table: string, plan: CopiedTable][] {
  return Object.entries(plans).flatMap(([table, plan]) =>
    'instead' in plan ? [] : [[table, plan] as [string, CopiedTable]],
  )
}

/**
 * @param vectors the tables of vectors, which are copied separately.
 * @throws Error for a table without a plan: otherwise it would silently be missing in the copy.
 */
export function requirePlans(
  found: readonly string[],
  plans: Record<string, TablePlan>,
  vectors: readonly string[] = [],
): void {
  const known = new Set([...Object.keys(plans), ...migrationTables, ...vectors])
  const unknown = found.filter(table => !known.has(table))
  if (unknown.length > 0) throw new Error(`nothing says how to copy: ${unknown.join(', ')}`)
  const missing = Object.keys(plans).filter(table => !found.includes(table))
  if (missing.length > 0) throw new Error(`there is no table ${missing.join(', ')}`)
}
