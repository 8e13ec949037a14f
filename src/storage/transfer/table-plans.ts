/** What becomes of each table when data moves to another database. Their order is that of copying: by foreign keys. */
import type { AgentTables, PlatformTables } from '../tables.ts'

export type TablePlan = CopiedTable | NotCopied

export interface CopiedTable {
  /** Columns that tell the rows apart; the rows are read in their order. */
  key: readonly [string, ...string[]]
  /** The column that numbers the rows by itself: the numbers of deleted rows are not given again in the copy, either. */
  numbered?: string
  /** Columns that hold rights of a running process, which nobody has in the copy. */
  released?: readonly string[]
  /** In the platform database the column that holds the agent's id; absent for what belongs to no agent. */
  agent?: string
}

interface NotCopied {
  /** Says what is done instead. */
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
 * @param vectors the tables of vectors, which are copied in a way of their own.
 * @throws Error for a table that no plan names: it would be missing in the copy without a word.
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
