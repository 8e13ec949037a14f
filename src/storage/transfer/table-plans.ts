/** The plans for copying tables to another database, in an order that respects foreign keys. */
import type { CopiedTable, TablePlan } from '../tables/table-set.ts'
import { agentRules, platformRules } from '../tables.ts'

export const platformPlans = plansOf(platformRules)
export const agentPlans = plansOf(agentRules)

function plansOf(rules: Record<string, { copy: TablePlan }>): Record<string, TablePlan> {
  return Object.fromEntries(Object.entries(rules).map(([table, { copy }]) => [table, copy]))
}

/** The migrations themselves write these tables, and have run on both sides. */
const migrationTables = ['kysely_migration', 'kysely_migration_lock']

/** Returns the tables to copy, in order. */
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
