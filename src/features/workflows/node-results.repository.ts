import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import type { AgentTables } from '#storage/tables.ts'
import type { NodeResult } from './engine/plan.ts'
import type { StoredNodeStatus } from './execution-status.ts'
import { shownStatus } from './execution-status.ts'
import type { ExecutionRow } from './executions.repository.ts'
import type { Execution } from './workflows.schema.ts'

type Database = Kysely<AgentTables>

const columns = [
  'node_id',
  'path',
  'status',
  'attempts',
  'handle',
  'output',
  'error',
  'warnings',
  'due_at',
  'started_at',
  'duration_ms',
] as const
const key = ['execution_id', 'node_id', 'path'] as const

/** What is known of the nodes of an execution, or of those that are in this state. */
export async function readResults(database: Database, executionId: string, status?: StoredNodeStatus) {
  let results = database.selectFrom('node_results').select(columns).where('execution_id', '=', executionId)
  if (status !== undefined) results = results.where('status', '=', status)
  return (await results.execute()) as NodeResult[]
}

/** SQLite takes at most 500 selects in a statement. */
const maxRecorded = 200

/**
 * Stores the results if `attempt` is still the one that runs, in one statement unless they are very many. Where other
 * processes may take over, the execution's row is locked meanwhile: a takeover would otherwise miss what is committed a
 * moment later.
 * @returns false if it is not.
 */
export async function recordResults(
  database: Database,
  { id, attempt }: Pick<ExecutionRow, 'id' | 'attempt'>,
  results: readonly NodeResult[],
  isExclusive: boolean,
): Promise<boolean> {
  const execution = { id, attempt }
  if (results.length > maxRecorded)
    return (
      (await recordResults(database, execution, results.slice(0, maxRecorded), isExclusive)) &&
      (await recordResults(database, execution, results.slice(maxRecorded), isExclusive))
    )
  const lock = isExclusive ? sql`` : sql`for share`
  const guard = sql`exists (select 1 from executions where id = ${id} and attempt = ${attempt} and status = 'running' ${lock})`
  const rows = results.map(result => {
    const values = columns.map(column => {
      const value = result[column]
      return typeof value === 'number' ? sql`cast(${value} as integer)` : sql`cast(${value} as text)`
    })
    return sql`select cast(${id} as text), ${sql.join(values)} where ${guard}`
  })
  const changes = columns.slice(2).map(column => sql`${sql.ref(column)} = excluded.${sql.ref(column)}`)
  const names = ['execution_id', ...columns].map(column => sql.ref(column))
  const stored = await sql`
    insert into node_results (${sql.join(names)}) ${sql.join(rows, sql` union all `)}
    on conflict (${sql.join(key.map(column => sql.ref(column)))})
    do update set ${sql.join(changes)} returning 1 as stored`.execute(database)
  return stored.rows.length > 0
}

/** A person's decision on a node that waits: it goes on at `due_at`. */
export async function decideNode(
  database: Database,
  executionId: string,
  { node_id, path }: NodeResult,
  decision: { output: string; due_at: string },
): Promise<void> {
  await database
    .updateTable('node_results')
    .set(decision)
    .where('execution_id', '=', executionId)
    .where('node_id', '=', node_id)
    .where('path', '=', path)
    .execute()
}

const shownBytes = 2 * 1024 * 1024

/** As they are shown; outputs are read until they are too many for one answer. */
export async function listResults(
  database: Database,
  execution: Pick<ExecutionRow, 'id' | 'status'>,
): Promise<Execution['node_results']> {
  const total = sql<number>`sum(coalesce(octet_length(output), 0)) over (order by started_at, node_id, path)`
  const rows = await database
    .selectFrom('node_results')
    .select(['node_id', 'path', 'status', 'duration_ms', 'attempts', 'error', 'warnings'])
    .select(sql<string | null>`case when ${total} <= ${sql.lit(shownBytes)} then output end`.as('output'))
    .where('execution_id', '=', execution.id)
    .orderBy('started_at')
    .orderBy('node_id')
    .orderBy('path')
    .execute()
  return rows.map(({ status: stored, output, warnings, ...row }) => {
    const status = stored as StoredNodeStatus
    const shown = status === 'looping' ? null : output
    return {
      ...row,
      status: shownStatus({ status }, execution),
      output: JSON.parse(shown ?? 'null'),
      warnings: JSON.parse(warnings ?? '[]'),
    }
  })
}

const deletedRows = 500
const deletedBytes = 4 * 1024 * 1024

/** Deletes some of the results of these executions, so few that nobody has to wait; false once there are none. */
export async function deleteSomeResults(
  database: Database,
  executionIds: readonly string[],
): Promise<boolean> {
  const running = sql`over (order by execution_id, node_id, path)`
  const { numAffectedRows = 0n } = await sql`
    delete from node_results where (execution_id, node_id, path) in (
      select execution_id, node_id, path from (
        select execution_id, node_id, path, row_number() ${running} as place,
          sum(coalesce(octet_length(output), 0)) ${running} as bytes
        from node_results where execution_id in (${sql.join(executionIds)})
      ) as numbered
      where place = 1 or (place <= ${sql.lit(deletedRows)} and bytes <= ${sql.lit(deletedBytes)})
    )`.execute(database)
  return numAffectedRows > 0n
}
