import type { Kysely, Selectable } from 'kysely'
import { sql } from 'kysely'
import type { ListDefinition, Page } from '#platform/http/lists/list-query.ts'
import { listRows } from '#platform/http/lists/list-query.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { NodeResult } from './engine/plan.ts'
import { keyOf } from './engine/plan.ts'
import type { Execution, ExecutionListQuery, ExecutionSummary } from './workflows.schema.ts'

type Database = Kysely<AgentTables>
export type ExecutionRow = Selectable<AgentTables['executions']>

const summaryColumns = [
  'id',
  'workflow_id',
  'version',
  'status',
  'cause',
  'error',
  'waiting_until',
  'created_at',
  'started_at',
  'completed_at',
] as const

const executionList: ListDefinition<Pick<ExecutionRow, (typeof summaryColumns)[number]>> = {
  sortable: {
    id: { column: 'id' },
    workflow_id: { column: 'workflow_id' },
    status: { column: 'status' },
    created_at: { column: 'created_at' },
    started_at: { column: 'started_at', whenNull: '' },
    completed_at: { column: 'completed_at', whenNull: '' },
  },
  defaultSort: ['created_at'],
  defaultOrder: 'desc',
  searchable: ['error'],
  dateColumn: 'created_at',
  unique: { column: 'id' },
}

export async function listExecutions(
  database: Database,
  query: ExecutionListQuery,
): Promise<Page<ExecutionSummary>> {
  let executions = database.selectFrom('executions').select(summaryColumns)
  if (query.workflow_id !== undefined) executions = executions.where('workflow_id', '=', query.workflow_id)
  if (query.status !== undefined) executions = executions.where('status', 'in', query.status)
  const { rows, meta } = await listRows(executions, executionList, query)
  return { rows: rows.map(toSummary), meta }
}

export function findExecution(database: Database, id: string): Promise<ExecutionRow | undefined> {
  return database.selectFrom('executions').selectAll().where('id', '=', id).executeTakeFirst()
}

export function findByKey(database: Database, key: string): Promise<ExecutionRow | undefined> {
  return database.selectFrom('executions').selectAll().where('idempotency_key', '=', key).executeTakeFirst()
}

export async function insertExecution(database: Database, row: ExecutionRow): Promise<void> {
  await database.insertInto('executions').values(row).execute()
}

export async function countExecutions(
  database: Database,
  workflowId: string,
  status: string,
): Promise<number> {
  const { count } = await database
    .selectFrom('executions')
    .select(({ fn }) => fn.countAll<number | string>().as('count'))
    .where('workflow_id', '=', workflowId)
    .where('status', '=', status)
    .executeTakeFirstOrThrow()
  return Number(count)
}

export function listActive(
  database: Database,
  workflowId: string,
  statuses: readonly string[],
  limit: number,
) {
  return database
    .selectFrom('executions')
    .select(['id', 'segment'])
    .where('workflow_id', '=', workflowId)
    .where('status', 'in', statuses)
    .orderBy('created_at')
    .orderBy('id')
    .limit(limit)
    .execute()
}

export type Guard = { id: string } & Partial<Pick<ExecutionRow, 'attempt' | 'segment'>> & {
    statuses?: readonly string[]
    isParked?: boolean
  }

/** Changes the execution if it still is as the guard says; undefined if it is not. */
export function changeExecution(
  database: Database,
  { id, attempt, segment, statuses = ['running'], isParked = false }: Guard,
  changes: Partial<ExecutionRow> & { takesOver?: true; nextSegment?: true },
): Promise<ExecutionRow | undefined> {
  const { takesOver, nextSegment, ...values } = changes
  return database
    .updateTable('executions')
    .set(old => ({
      ...values,
      ...(takesOver && { attempt: old('attempt', '+', 1) }),
      ...(nextSegment && { segment: old('segment', '+', 1) }),
    }))
    .where('id', '=', id)
    .where('status', 'in', statuses)
    .$if(attempt !== undefined, query => query.where('attempt', '=', attempt ?? 0))
    .$if(segment !== undefined, query => query.where('segment', '=', segment ?? 0))
    .$if(isParked, query => query.where('waiting_until', 'is not', null))
    .returningAll()
    .executeTakeFirst()
}

const resultColumns = [
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

export async function readResults(database: Database, executionId: string): Promise<Map<string, NodeResult>> {
  const rows = await database
    .selectFrom('node_results')
    .select(resultColumns)
    .where('execution_id', '=', executionId)
    .execute()
  return new Map(rows.map(row => [keyOf(row.node_id, row.path), row as NodeResult]))
}

/**
 * Stores the results if `attempt` is still the one that runs, all in one statement. Where other processes may take over, the
 * execution's row is locked meanwhile: a takeover would otherwise miss what is committed a moment later.
 * @returns false, with nothing stored, if it is not.
 */
export async function recordResults(
  database: Database,
  { id, attempt }: Pick<ExecutionRow, 'id' | 'attempt'>,
  results: readonly NodeResult[],
  isExclusive: boolean,
): Promise<boolean> {
  const lock = isExclusive ? sql`` : sql`for share`
  const guard = sql`exists (select 1 from executions where id = ${id} and attempt = ${attempt} and status = 'running' ${lock})`
  const rows = results.map(result => {
    const values = resultColumns.map(column => {
      const value = result[column]
      return typeof value === 'number' ? sql`cast(${value} as integer)` : sql`cast(${value} as text)`
    })
    return sql`select cast(${id} as text), ${sql.join(values)} where ${guard}`
  })
  const changes = resultColumns.slice(2).map(column => sql`${sql.ref(column)} = excluded.${sql.ref(column)}`)
  const { rows: stored } = await sql`
    insert into node_results (execution_id, ${sql.join(resultColumns.map(column => sql.ref(column)))})
    ${sql.join(rows, sql` union all `)}
    on conflict (execution_id, node_id, path) do update set ${sql.join(changes)} returning 1 as stored`.execute(
    database,
  )
  return stored.length > 0
}

/** The results of another execution, under this one. */
export async function copyResults(database: Database, execution_id: string, results: readonly NodeResult[]) {
  for (const result of results)
    await database
      .insertInto('node_results')
      .values({ execution_id, ...result })
      .execute()
}

/** A person's decision: the node goes on at `due_at`. */
export async function decideNode(
  database: Database,
  executionId: string,
  { node_id, path }: NodeResult,
  changes: { output: string; due_at: string },
): Promise<void> {
  await database
    .updateTable('node_results')
    .set(changes)
    .where('execution_id', '=', executionId)
    .where('node_id', '=', node_id)
    .where('path', '=', path)
    .where('status', '=', 'waiting')
    .execute()
}

/** When the first of the nodes that wait goes on. */
export async function firstDue(database: Database, executionId: string): Promise<string | undefined> {
  const row = await database
    .selectFrom('node_results')
    .select(({ fn }) => fn.min('due_at').as('due_at'))
    .where('execution_id', '=', executionId)
    .where('status', '=', 'waiting')
    .executeTakeFirst()
  return row?.due_at ?? undefined
}

const shownBytes = 4 * 1024 * 1024

/** As they are shown; outputs are read until they are too many for one answer. */
export async function listResults(
  database: Database,
  { id, status: ofExecution }: ExecutionRow,
): Promise<Execution['node_results']> {
  const total = sql<number>`sum(coalesce(octet_length(output), 0)) over (order by started_at, node_id, path)`
  const rows = await database
    .selectFrom('node_results')
    .select(['node_id', 'path', 'status', 'duration_ms', 'attempts', 'error', 'warnings'])
    .select(sql<string | null>`case when ${total} <= ${sql.lit(shownBytes)} then output end`.as('output'))
    .where('execution_id', '=', id)
    .orderBy('started_at')
    .orderBy('node_id')
    .orderBy('path')
    .execute()
  return rows.map(({ status, output, warnings, ...row }) => {
    const isOpen = status !== 'complete' && status !== 'errored'
    const current = status === 'looping' ? 'running' : status
    return {
      ...row,
      status: (isOpen && ofExecution !== 'running' ? 'terminated' : current) as NodeStatus,
      output: status === 'looping' ? null : JSON.parse(output ?? 'null'),
      warnings: JSON.parse(warnings ?? '[]'),
    }
  })
}

type NodeStatus = Execution['node_results'][number]['status']

export function toSummary(row: Pick<ExecutionRow, (typeof summaryColumns)[number]>): ExecutionSummary {
  return { ...row, status: row.status as Execution['status'], cause: JSON.parse(row.cause) }
}
