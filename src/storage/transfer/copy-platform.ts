import { type RawBuilder, sql } from 'kysely'
import { inTransaction } from '#platform/transactions/transaction.ts'
import type { CopiedTable } from '../tables/table-set.ts'
import { copyRows, readRows } from './copy-rows.ts'
import type { Part } from './digest.ts'
import { isOwnFact } from './marker.ts'
import type { Progress } from './progress.ts'
import type { AnyDatabase, StorageEnd } from './storage-end.ts'
import { copiedTables, platformPlans, requirePlans } from './table-plans.ts'

interface Dependencies {
  source: StorageEnd
  target: StorageEnd
  /** The agent to copy; null for all agents, and data that belongs to none. */
  agent: string | null
  progress: Progress
}

interface Selected {
  table: string
  plan: CopiedTable
  where: RawBuilder<unknown> | undefined
}

/** Copies all rows, after it has removed those that an earlier attempt left. */
export async function copyPlatform({ source, target, agent, progress }: Dependencies): Promise<Part[]> {
  const [from, to] = [placeOf(source), placeOf(target)]
  for (const { db, catalogue } of [from, to]) requirePlans(await catalogue.tables(db), platformPlans)
  await removeFromPlatform(target, agent)
  const parts: Part[] = []
  for (const selected of selectedTables(agent))
    parts.push(await copyRows({ ...from, ...selected }, to, progress.of(selected.table)))
  return parts
}

async function removeFromPlatform(target: StorageEnd, agent: string | null): Promise<void> {
  await inTransaction(placeOf(target).db, async transaction => {
    for (const { table, where } of selectedTables(agent).toReversed())
      await sql`delete from ${sql.table(table)} where ${where ?? sql`true`}`.execute(transaction)
  })
}

export async function readPlatform(end: StorageEnd, agent: string | null): Promise<Part[]> {
  const parts: Part[] = []
  for (const selected of selectedTables(agent)) parts.push(await readRows({ ...placeOf(end), ...selected }))
  return parts
}

function placeOf({ platform, catalogue }: StorageEnd) {
  return { db: platform as unknown as AnyDatabase, catalogue }
}

function selectedTables(agent: string | null): Selected[] {
  return copiedTables(platformPlans).flatMap(([table, plan]) => {
    if (agent === null) return [{ table, plan, where: table === 'platform_facts' ? isOwnFact : undefined }]
    return plan.agent === undefined ? [] : [{ table, plan, where: sql`${sql.ref(plan.agent)} = ${agent}` }]
  })
}
