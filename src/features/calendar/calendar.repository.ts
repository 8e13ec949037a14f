import type { Kysely, Selectable } from 'kysely'
import { listOf } from '#platform/http/lists/list-of.ts'
import { listRows } from '#platform/http/lists/list-query.ts'
import type { Recurrence, Series } from '#platform/time/recurrence.ts'
import { parseJsonColumn } from '#storage/json-column.ts'
import { calendarTables } from '#storage/tables/calendar.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { ListedTask, TaskListQuery } from './calendar.schema.ts'

type Database = Kysely<AgentTables>
export type TaskRow = Selectable<AgentTables['calendar_tasks']>
export type OccurrenceRow = Selectable<AgentTables['task_occurrences']>

const listedOccurrences = 100
/** Max tasks in a batch of a range. */
const pageSize = 100

const taskList = listOf(calendarTables.columns.calendar_tasks, {
  sortable: [
    'id',
    'title',
    'start_time',
    'end_time',
    'recurrence',
    'workflow_id',
    'status',
    'next_due',
    'created_at',
    'updated_at',
  ],
  searchable: ['title', 'description'],
  date: 'start_time',
  order: 'asc',
})

export async function listTasks(database: Database, query: TaskListQuery) {
  const page = await listRows(database.selectFrom('calendar_tasks').selectAll(), taskList, query)
  return { ...page, rows: page.rows.map(toTask) }
}

export function toTask(row: TaskRow): ListedTask {
  return { ...row, ...toSeries(row) } as ListedTask
}

export function toSeries({ recurrence, recurrence_days, exceptions, ...row }: TaskRow): Series {
  return {
    ...row,
    recurrence: recurrence as Recurrence,
    recurrence_days: parseJsonColumn<number[]>(recurrence_days, []),
    exceptions: parseJsonColumn<string[]>(exceptions, []),
  }
}

export function findTask(database: Database, id: string): Promise<TaskRow | undefined> {
  return database.selectFrom('calendar_tasks').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Inserts or replaces a task. */
export async function saveTask(database: Database, { id, ...row }: TaskRow): Promise<void> {
  const insert = database.insertInto('calendar_tasks').values({ id, ...row })
  await insert.onConflict(conflict => conflict.column('id').doUpdateSet(row)).execute()
}

/** Deletes a task with its occurrences. */
export async function deleteTask(database: Database, id: string): Promise<void> {
  await database.deleteFrom('calendar_tasks').where('id', '=', id).execute()
}

interface Range {
  from?: string
  to?: string
}

/** Reads tasks in batches: those that can occur within the range, or all without a range. */
export async function* tasksWithin(database: Database, { from, to }: Range): AsyncGenerator<TaskRow[]> {
  let tasks = database.selectFrom('calendar_tasks').selectAll()
  if (from !== undefined) tasks = tasks.where('ends_at', '>=', from)
  if (to !== undefined) tasks = tasks.where('start_time', '<=', to)
  const inOrder = tasks.orderBy('ends_at').orderBy('id').limit(pageSize)
  for (let page = await inOrder.execute(); page.length > 0; ) {
    yield page
    const last = page.at(-1)
    if (last === undefined || page.length < pageSize) return
    const { ends_at, id } = last
    page = await inOrder
      .where(({ eb, or, and }) =>
        or([eb('ends_at', '>', ends_at), and([eb('ends_at', '=', ends_at), eb('id', '>', id)])]),
      )
      .execute()
  }
}

/** Returns occurrences of tasks that have begun, or whose status people have set. */
export function occurrencesOf(database: Database, taskIds: readonly string[], { from, to }: Range = {}) {
  let found = database.selectFrom('task_occurrences').selectAll().where('task_id', 'in', taskIds)
  if (from !== undefined) found = found.where('starts_at', '>=', from)
  if (to !== undefined) found = found.where('starts_at', '<=', to)
  return found.execute()
}

/** Returns occurrences, the newest first. */
export function latestOccurrences(database: Database, taskId: string): Promise<OccurrenceRow[]> {
  return database
    .selectFrom('task_occurrences')
    .selectAll()
    .where('task_id', '=', taskId)
    .orderBy('starts_at', 'desc')
    .limit(listedOccurrences)
    .execute()
}

export function findOccurrence(
  database: Database,
  key: { task_id: string; starts_at: string } | { workflow_execution_id: string },
): Promise<OccurrenceRow | undefined> {
  let found = database.selectFrom('task_occurrences').selectAll()
  for (const [column, value] of Object.entries(key))
    found = found.where(column as keyof OccurrenceRow, '=', value)
  return found.executeTakeFirst()
}

/** Inserts or replaces an occurrence. */
export async function saveOccurrence(database: Database, { id, ...row }: OccurrenceRow): Promise<void> {
  const insert = database.insertInto('task_occurrences').values({ id, ...row })
  await insert.onConflict(conflict => conflict.columns(['task_id', 'starts_at']).doUpdateSet(row)).execute()
}

export async function deleteOccurrence(database: Database, taskId: string, startsAt: string): Promise<void> {
  const one = database.deleteFrom('task_occurrences').where('task_id', '=', taskId)
  await one.where('starts_at', '=', startsAt).execute()
}

/** Inserts occurrences; existing ones stay unchanged. */
export async function insertOccurrences(database: Database, rows: readonly OccurrenceRow[]): Promise<void> {
  for (let first = 0; first < rows.length; first += pageSize)
    await database
      .insertInto('task_occurrences')
      .values(rows.slice(first, first + pageSize))
      .onConflict(conflict => conflict.columns(['task_id', 'starts_at']).doNothing())
      .execute()
}

const feedName = 'all'

/** Replaces the token of the feed; without a hash, removes the feed. */
export async function replaceFeed(database: Database, token_hash?: string): Promise<void> {
  await database.deleteFrom('calendar_feeds').execute()
  if (token_hash !== undefined)
    await database.insertInto('calendar_feeds').values({ name: feedName, token_hash }).execute()
}

export async function feedHash(database: Database): Promise<string | undefined> {
  return (await database.selectFrom('calendar_feeds').select('token_hash').executeTakeFirst())?.token_hash
}
