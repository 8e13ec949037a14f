import { type Kysely, type Selectable, sql, type UpdateQueryBuilder, type UpdateResult } from 'kysely'
import { parseJson } from '#platform/exact-json.ts'
import { listOf } from '#platform/http/lists/list-of.ts'
import { listRows, type Page } from '#platform/http/lists/list-query.ts'
import { prepareQuery, type ValueOf } from '#platform/prepared-query.ts'
import { workflowTables } from '#storage/tables/workflows.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { ExecutionStatus } from '../execution-status.ts'
import type { ExecutionListQuery, ExecutionSummary, Started } from '../workflows.schema.ts'

type Database = Kysely<AgentTables>
export type ExecutionRow = Selectable<AgentTables['executions']>

const shownColumns = [
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
const summaryColumns = [...shownColumns, 'last_wait'] as const
type SummaryRow = Pick<ExecutionRow, (typeof summaryColumns)[number]>

const executionList = listOf(workflowTables.columns.executions, {
  sortable: ['id', 'workflow_id', 'status', 'created_at', 'started_at', 'completed_at'],
  searchable: ['error'],
})

export async function listExecutions(database: Database, query: ExecutionListQuery) {
  let executions = database.selectFrom('executions').select(summaryColumns)
  if (query.workflow_id !== undefined) executions = executions.where('workflow_id', '=', query.workflow_id)
  const { status: statuses } = query
  if (statuses !== undefined)
    executions = executions.where(({ eb, or }) =>
      or(
        statuses.map(one =>
          one === 'waiting' ? eb('waiting_until', 'is not', null) : eb('status', '=', one),
        ),
      ),
    )
  const { rows, meta } = await listRows(executions, executionList, query)
  return { rows: rows.map(toSummary), meta } satisfies Page<ExecutionSummary>
}

export function toSummary(row: SummaryRow): ExecutionSummary {
  const summary = Object.fromEntries(shownColumns.map(name => [name, row[name]])) as SummaryRow
  const status = row.status as ExecutionStatus
  return { ...summary, status, status_detail: detailOf(row), cause: parseJson(row.cause) }
}

function detailOf({ waiting_until, last_wait }: SummaryRow): string | null {
  if (waiting_until === null) return null
  return last_wait?.startsWith('approval') ? 'waiting_for_approval' : `waiting_until ${waiting_until}`
}

export function toStarted({
  id,
  status,
  started_at,
}: Pick<ExecutionRow, 'id' | 'status' | 'started_at'>): Started {
  return { execution_id: id, status: status as ExecutionStatus, started_at }
}

export function findExecution(database: Database, id: string): Promise<ExecutionRow | undefined> {
  return database.selectFrom('executions').selectAll().where('id', '=', id).executeTakeFirst()
}

export function findByKey(database: Database, key: string) {
  return database
    .selectFrom('executions')
    .select(['id', 'status', 'started_at', 'options'])
    .where('idempotency_key', '=', key)
    .executeTakeFirst()
}

export async function insertExecution(database: Database, row: ExecutionRow): Promise<void> {
  await insertOne(database, row)
}

const executionColumns = Object.keys(workflowTables.columns.executions) as (keyof ExecutionRow)[]

const insertOne = prepareQuery((database: Database, value: ValueOf<keyof ExecutionRow>) => {
  const row = Object.fromEntries(executionColumns.map(name => [name, value<never>(name)]))
  return database.insertInto('executions').values(row as unknown as ExecutionRow)
})

/** Counts executions; those that wait are counted as running only with `countsWaiting`. */
export async function countExecutions(
  database: Database,
  workflowId: string,
  status: ExecutionStatus,
  countsWaiting = true,
) {
  const [counted] = await selectCount(database, { workflowId, status, all: Number(countsWaiting) })
  return Number(counted?.count)
}

const selectCount = prepareQuery((database: Database, value: ValueOf<'workflowId' | 'status' | 'all'>) =>
  database
    .selectFrom('executions')
    .select(({ fn }) => fn.countAll<number | string>().as('count'))
    .where('workflow_id', '=', value('workflowId'))
    .where('status', '=', value('status'))
    .where(sql<boolean>`(waiting_until is null or ${value('all')} = 1)`),
)

/** Lists the ids of queued executions, the earliest first. */
export async function listQueued(database: Database, workflowId: string, limit: number): Promise<string[]> {
  const rows = await selectQueued(database, { workflowId, limit })
  return rows.map(({ id }) => id)
}

const selectQueued = prepareQuery((database: Database, value: ValueOf<'workflowId' | 'limit'>) =>
  database
    .selectFrom('executions')
    .select('id')
    .where('workflow_id', '=', value('workflowId'))
    .where('status', '=', 'queued')
    .orderBy('created_at')
    .orderBy('id')
    // With a bare parameter as its limit, SQLite would prepare the statement again each time.
    .limit(sql<number>`cast(${value<number>('limit')} as integer)`),
)

/** Selects executions that are still in the expected state; `statuses` defaults to `running`. */
export interface Guard {
  id?: string
  workflow_id?: string
  attempt?: number
  statuses?: readonly ExecutionStatus[]
  /** True selects an execution that waits and that no process runs. */
  isParked?: true
}

type Update = UpdateQueryBuilder<AgentTables, 'executions', 'executions', UpdateResult>

function guarded(
  update: Update,
  { id, workflow_id, attempt, statuses = ['running'], isParked }: Guard,
): Update {
  let query = update.where('status', 'in', statuses)
  if (id !== undefined) query = query.where('id', '=', id)
  if (workflow_id !== undefined) query = query.where('workflow_id', '=', workflow_id)
  if (attempt !== undefined) query = query.where('attempt', '=', attempt)
  return isParked ? query.where('waiting_until', 'is not', null) : query
}

/** Changes the executions that match the guard, and returns them without their inputs, which can be long. */
export async function changeExecutions(
  database: Database,
  guard: Guard,
  changes: Partial<ExecutionRow>,
): Promise<ExecutionRow[]> {
  const { statuses, ...named } = guard
  const key = JSON.stringify([statuses, Object.keys(named), Object.keys(changes)])
  const change = changeStatements.get(key) ?? newChangeStatement(guard, changes)
  changeStatements.set(key, change)
  const values = Object.entries(changes).map(([name, value]) => [`new ${name}`, value])
  const rows = await change(database, { ...named, ...Object.fromEntries(values) })
  return rows.map(row => ({ ...row, input: '{}' }))
}

/** One statement for each kind of change; there are few kinds. */
const changeStatements = new Map<string, ReturnType<typeof newChangeStatement>>()

function newChangeStatement({ statuses, isParked, ...named }: Guard, changes: Partial<ExecutionRow>) {
  return prepareQuery<AgentTables, Omit<ExecutionRow, 'input'>, string>((database, value) => {
    const changed = Object.fromEntries(Object.keys(changes).map(name => [name, value(`new ${name}`)]))
    const givenGuard: Guard = Object.fromEntries(Object.keys(named).map(name => [name, value(name)]))
    const guard = { ...givenGuard, ...(statuses && { statuses }), ...(isParked && { isParked }) }
    return guarded(database.updateTable('executions').set(changed), guard).returning([
      ...summaryColumns,
      ...(['attempt', 'depth', 'output', 'options', 'idempotency_key'] as const),
    ])
  })
}

/** Takes over an execution from the process that ran it before; undefined if it does not run. */
export async function claimExecution(database: Database, id: string): Promise<ExecutionRow | undefined> {
  const [claimed] = await claim(database, { id })
  return claimed
}

const claim = prepareQuery((database: Database, value: ValueOf<'id'>) => {
  const update = database
    .updateTable('executions')
    .set(old => ({ attempt: old('attempt', '+', 1), waiting_until: null }))
  return guarded(update, { id: value('id') }).returningAll()
})

/** Limits of the finished executions that are kept. */
export interface Retention {
  /** Executions that ended before are too old. */
  after: string
  /** Executions that ended later are always kept: their callers might still request the result. */
  until: string
  /** Max number of kept executions. */
  count: number
}

/** The prefix of the keys of paid executions. */
export const saleKey = 'sale:'

/** Lists the ids of finished executions to delete, at most `limit`. */
export async function listSuperfluous(
  database: Database,
  { after, until, count }: Retention,
  limit: number,
): Promise<string[]> {
  const ended = database.selectFrom('executions').select('executions.id').where('completed_at', '<', until)
  const old = ended.where('completed_at', '<', after)
  const surplus = ended.orderBy('completed_at', 'desc').offset(count)
  const unwanted = ended
    .innerJoin('workflows', 'workflows.id', 'workflow_id')
    .where(({ eb, or, and, fn, val }) => {
      const isGood = eb('executions.status', '!=', 'errored')
      const isExcluded = or([eb('keep', '=', 'none'), and([eb('keep', '=', 'errors'), isGood])])
      // Buyers can request paid results again.
      return and([isExcluded, eb(fn.coalesce('idempotency_key', val('')), 'not like', `${saleKey}%`)])
    })
  for (const query of [old, surplus, unwanted]) {
    const rows = await query.limit(limit).execute()
    if (rows.length > 0) return rows.map(({ id }) => id)
  }
  return []
}

export async function deleteExecutions(database: Database, ids: readonly string[]): Promise<void> {
  await database.deleteFrom('executions').where('id', 'in', ids).execute()
}

export async function findOldestEnd(database: Database): Promise<string | null> {
  const { oldest } = await database
    .selectFrom('executions')
    .select(({ fn }) => fn.min('completed_at').as('oldest'))
    .executeTakeFirstOrThrow()
  return oldest
}
