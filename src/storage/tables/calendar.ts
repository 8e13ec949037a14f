import { defineAgentTables, hidden, readable } from './table-set.ts'

/** What takes place at which time, and what became of it. */
export interface CalendarTables {
  calendar_tasks: CalendarTasksTable
  task_occurrences: TaskOccurrencesTable
  calendar_feeds: CalendarFeedsTable
}

interface CalendarTasksTable {
  id: string
  title: string
  description: string
  start_time: string
  end_time: string | null
  timezone: string
  recurrence: string
  /** JSON list of days of the week. */
  recurrence_days: string
  recurrence_end: string | null
  /** JSON list of dates. */
  exceptions: string
  workflow_id: string | null
  status: string
  /** The end of its last occurrence; a time far away if there is none. */
  ends_at: string
  /** What its timer names: one for another time does nothing. */
  next_due: string | null
  created_at: string
  updated_at: string
}

interface TaskOccurrencesTable {
  id: string
  task_id: string
  starts_at: string
  status: string
  error: string | null
  workflow_execution_id: string | null
}

interface CalendarFeedsTable {
  /** There is one row at most. */
  name: string
  token_hash: string
}

export const calendarTables = defineAgentTables<CalendarTables>({
  rules: {
    calendar_tasks: { sql: readable, copy: { key: ['id'] } },
    task_occurrences: { sql: readable, copy: { key: ['id'] } },
    calendar_feeds: { sql: hidden, copy: { key: ['name'] } },
  },
  async create(db, { textType }) {
    await db.schema
      .createTable('calendar_tasks')
      .addColumn('id', textType, column => column.primaryKey())
      .addColumn('title', textType, column => column.notNull())
      .addColumn('description', textType, column => column.notNull())
      .addColumn('start_time', textType, column => column.notNull())
      .addColumn('end_time', textType)
      .addColumn('timezone', textType, column => column.notNull())
      .addColumn('recurrence', textType, column => column.notNull())
      .addColumn('recurrence_days', textType, column => column.notNull())
      .addColumn('recurrence_end', textType)
      .addColumn('exceptions', textType, column => column.notNull())
      .addColumn('workflow_id', textType)
      .addColumn('status', textType, column => column.notNull())
      .addColumn('ends_at', textType, column => column.notNull())
      .addColumn('next_due', textType)
      .addColumn('created_at', textType, column => column.notNull())
      .addColumn('updated_at', textType, column => column.notNull())
      .execute()
    await db.schema
      .createIndex('calendar_tasks_start')
      .on('calendar_tasks')
      .columns(['start_time', 'id'])
      .execute()
    await db.schema
      .createIndex('calendar_tasks_end')
      .on('calendar_tasks')
      .columns(['ends_at', 'id'])
      .execute()
    await db.schema
      .createTable('task_occurrences')
      .addColumn('id', textType, column => column.primaryKey())
      .addColumn('task_id', textType, column =>
        column.notNull().references('calendar_tasks.id').onDelete('cascade'),
      )
      .addColumn('starts_at', textType, column => column.notNull())
      .addColumn('status', textType, column => column.notNull())
      .addColumn('error', textType)
      .addColumn('workflow_execution_id', textType, column => column.unique())
      .addUniqueConstraint('task_occurrences_start', ['task_id', 'starts_at'])
      .execute()
    await db.schema
      .createTable('calendar_feeds')
      .addColumn('name', textType, column => column.primaryKey())
      .addColumn('token_hash', textType, column => column.notNull())
      .execute()
  },
})
