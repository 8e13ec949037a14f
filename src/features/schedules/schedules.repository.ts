import type { Kysely, Selectable } from 'kysely'
import { listOf } from '#platform/http/lists/list-of.ts'
import { listRows } from '#platform/http/lists/list-query.ts'
import { parseJsonColumn } from '#storage/json-column.ts'
import { scheduleTables } from '#storage/tables/schedules.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { Schedule, ScheduleExecution, ScheduleListQuery } from './schedules.schema.ts'

type Database = Kysely<AgentTables>
export type ScheduleRow = Selectable<AgentTables['schedules']>
export type ExecutionRow = Selectable<AgentTables['schedule_executions']>
type Summary = Omit<Schedule, 'next_runs' | 'executions' | 'current'>

const keptExecutions = 100

const scheduleList = listOf(scheduleTables.columns.schedules, {
  sortable: [
    'id',
    'name',
    'type',
    'status',
    'cron_expression',
    'callback_type',
    'callback_id',
    'next_run',
    'last_run',
    'created_at',
    'updated_at',
  ],
  searchable: ['name'],
})

export async function listSchedules(database: Database, query: ScheduleListQuery) {
  let schedules = database.selectFrom('schedules').selectAll()
  if (query.status !== undefined) schedules = schedules.where('status', 'in', query.status)
  if (query.type !== undefined) schedules = schedules.where('type', 'in', query.type)
  const { rows, meta } = await listRows(schedules, scheduleList, query)
  return { rows: rows.map(toSummary), meta }
}

export function toSummary(row: ScheduleRow): Summary {
  return { ...row, callback_data: callbackData(row) } as Summary
}

export function callbackData({ callback_data }: Pick<ScheduleRow, 'callback_data'>) {
  return parseJsonColumn<Record<string, unknown>>(callback_data, {})
}

export function findSchedule(database: Database, id: string): Promise<ScheduleRow | undefined> {
  return database.selectFrom('schedules').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Inserts or replaces a schedule. */
export async function saveSchedule(database: Database, { id, ...row }: ScheduleRow): Promise<void> {
  const insert = database.insertInto('schedules').values({ id, ...row })
  await insert.onConflict(conflict => conflict.column('id').doUpdateSet(row)).execute()
}

/** Deletes a schedule with its history. */
export async function deleteSchedule(database: Database, id: string): Promise<void> {
  await database.deleteFrom('schedules').where('id', '=', id).execute()
}

function executionsOf(database: Database, scheduleId: string) {
  return database.selectFrom('schedule_executions').selectAll().where('schedule_id', '=', scheduleId)
}

/** Lists executions, the newest first: all kept ended ones, or up to as many others. */
export function listExecutions(database: Database, scheduleId: string, haveEnded: boolean) {
  return executionsOf(database, scheduleId)
    .where('status', haveEnded ? 'not in' : 'in', ['running', 'queued'])
    .orderBy('time', 'desc')
    .limit(keptExecutions)
    .execute()
}

/** Returns the first scheduled execution in one of the states. */
export function findFirst(database: Database, scheduleId: string, ...states: ('running' | 'queued')[]) {
  const found = executionsOf(database, scheduleId).where('status', 'in', states)
  return found.orderBy('time').limit(1).executeTakeFirst()
}

export function toExecution({ time, missed_until: to, count, ...row }: ExecutionRow): ScheduleExecution {
  const missed = row.status === 'missed' ? { scheduled_for: time, count, from: time, to } : {}
  return { ...row, ...missed } as ScheduleExecution
}

export function findExecution(
  database: Database,
  key: 'id' | 'workflow_execution_id',
  value: string,
): Promise<ExecutionRow | undefined> {
  const found = database.selectFrom('schedule_executions').selectAll().where(key, '=', value)
  return found.executeTakeFirst()
}

/** Returns past run times from `at` on: they recur if the clock was set back. */
export async function listDone(database: Database, scheduleId: string, at: string): Promise<Set<string>> {
  const rows = await executionsOf(database, scheduleId).where('scheduled_for', '>=', at).execute()
  return new Set(rows.flatMap(({ scheduled_for }) => scheduled_for ?? []))
}

/** Inserts an execution, and deletes the oldest ended ones above the limit. */
export async function insertExecution(transaction: Database, row: ExecutionRow): Promise<void> {
  await transaction.insertInto('schedule_executions').values(row).execute()
  const old = transaction
    .selectFrom('schedule_executions')
    .select('id')
    .where('schedule_id', '=', row.schedule_id)
    .where('status', 'not in', ['running', 'queued'])
    .orderBy('time', 'desc')
    .limit(1_000)
    .offset(keptExecutions)
  await transaction.deleteFrom('schedule_executions').where('id', 'in', old).execute()
}

/** Consecutive missed times with the same reason are one entry of the history. */
export async function insertMissed(transaction: Database, row: ExecutionRow): Promise<void> {
  const { schedule_id, count, missed_until, error } = row
  const last = await executionsOf(transaction, schedule_id)
    .orderBy('time', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (last?.status === 'missed' && last.error === error)
    await updateExecution(transaction, last.id, { count: last.count + count, missed_until })
  else await insertExecution(transaction, row)
}

export async function updateExecution(
  database: Database,
  id: string,
  changes: Partial<ExecutionRow>,
): Promise<void> {
  await database.updateTable('schedule_executions').set(changes).where('id', '=', id).execute()
}
