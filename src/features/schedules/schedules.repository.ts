import type { Kysely, Selectable } from 'kysely'
import type { ListDefinition } from '#platform/http/lists/list-query.ts'
import { listRows } from '#platform/http/lists/list-query.ts'
import { parseJsonColumn } from '#storage/json-column.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { Schedule, ScheduleExecution, ScheduleListQuery } from './schedules.schema.ts'

type Database = Kysely<AgentTables>
export type ScheduleRow = Selectable<AgentTables['schedules']>
export type ExecutionRow = Selectable<AgentTables['schedule_executions']>
type Summary = Omit<Schedule, 'next_runs' | 'executions' | 'current'>

/** The kind of subscriber that learns how workflows end. */
export const subscriberKind = 'schedule'
const keptExecutions = 100

const scheduleList: ListDefinition<ScheduleRow> = {
  sortable: {
    id: { column: 'id' },
    name: { column: 'name' },
    type: { column: 'type' },
    status: { column: 'status' },
    cron_expression: { column: 'cron_expression', whenNull: '' },
    callback_type: { column: 'callback_type' },
    callback_id: { column: 'callback_id', whenNull: '' },
    next_run: { column: 'next_run', whenNull: '' },
    last_run: { column: 'last_run', whenNull: '' },
    created_at: { column: 'created_at' },
    updated_at: { column: 'updated_at' },
  },
  defaultSort: ['created_at'],
  defaultOrder: 'desc',
  searchable: ['name'],
  dateColumn: 'created_at',
  unique: { column: 'id' },
}

export async function listSchedules(database: Database, query: ScheduleListQuery) {
  let schedules = database.selectFrom('schedules').selectAll()
  if (query.status !== undefined) schedules = schedules.where('status', 'in', query.status)
  if (query.type !== undefined) schedules = schedules.where('type', 'in', query.type)
  const { rows, meta } = await listRows(schedules, scheduleList, query)
  return { rows: rows.map(toSummary), meta }
}

export function toSummary(row: ScheduleRow): Summary {
  return { ...row, callback_data: parseJsonColumn(row.callback_data, {}) } as Summary
}

export function findSchedule(database: Database, id: string): Promise<ScheduleRow | undefined> {
  return database.selectFrom('schedules').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Inserts or replaces it. With a workflow to start, the agent's schedules learn from then on how workflows end. */
export async function saveSchedule(transaction: Database, { id, ...row }: ScheduleRow): Promise<void> {
  const insert = transaction.insertInto('schedules').values({ id, ...row })
  await insert.onConflict(conflict => conflict.column('id').doUpdateSet(row)).execute()
  if (row.callback_type !== 'workflow') return
  const events = ['workflow.complete', 'workflow.errored', 'workflow.terminated']
  await transaction
    .insertInto('event_subscriptions')
    .values(events.map(event => ({ event, kind: subscriberKind, ref: 'workflows' })))
    .onConflict(conflict => conflict.doNothing())
    .execute()
}

export async function deleteSchedule(database: Database, id: string): Promise<void> {
  await database.deleteFrom('schedules').where('id', '=', id).execute()
}

/** All that run, and of the others those that are kept; newest first. */
export async function listExecutions(database: Database, scheduleId: string): Promise<ScheduleExecution[]> {
  const rows = await database
    .selectFrom('schedule_executions')
    .selectAll()
    .where('schedule_id', '=', scheduleId)
    .orderBy('scheduled_for', 'desc')
    .execute()
  return rows.map(toExecution)
}

export function toExecution({ missed_count: count, missed_to: to, ...row }: ExecutionRow): ScheduleExecution {
  const missed = count === 0 ? {} : { count, from: row.scheduled_for, to }
  return { ...row, ...missed } as ScheduleExecution
}

export function findExecution(database: Database, id: string): Promise<ExecutionRow | undefined> {
  return database.selectFrom('schedule_executions').selectAll().where('id', '=', id).executeTakeFirst()
}

/** The first one that is under way, such as the one that others wait for; undefined if there is none. */
export async function findRunning(database: Database, scheduleId: string): Promise<ExecutionRow | undefined> {
  return await database
    .selectFrom('schedule_executions')
    .selectAll()
    .where('schedule_id', '=', scheduleId)
    .where('status', '=', 'running')
    .orderBy('scheduled_for')
    .limit(1)
    .executeTakeFirst()
}

export async function isRecorded(database: Database, scheduleId: string, time: string): Promise<boolean> {
  const found = database.selectFrom('schedule_executions').select('id').where('schedule_id', '=', scheduleId)
  return (await found.where('scheduled_for', '=', time).executeTakeFirst()) !== undefined
}

export async function insertExecution(transaction: Database, row: ExecutionRow): Promise<void> {
  await transaction.insertInto('schedule_executions').values(row).execute()
  const ended = transaction
    .selectFrom('schedule_executions')
    .select('id')
    .where('schedule_id', '=', row.schedule_id)
    .where('status', '!=', 'running')
    .orderBy('scheduled_for', 'desc')
    .limit(1_000)
    .offset(keptExecutions)
  await transaction.deleteFrom('schedule_executions').where('id', 'in', ended).execute()
}

/** Records how a callback ended, unless that is known already. */
export async function endExecution(
  database: Database,
  key: 'id' | 'workflow_execution_id',
  value: string,
  error: string | null,
): Promise<void> {
  const status = error === null ? 'success' : 'error'
  const update = database.updateTable('schedule_executions').set({ status, error })
  await update.where(key, '=', value).where('status', '=', 'running').execute()
}
