import { defineAgentTables, readable } from './table-set.ts'

/** What agents do at set times, and what became of it. */
export interface ScheduleTables {
  schedules: SchedulesTable
  schedule_executions: ScheduleExecutionsTable
}

interface SchedulesTable {
  id: string
  name: string
  type: string
  cron_expression: string | null
  delay_seconds: number | null
  timezone: string
  callback_type: string
  callback_id: string | null
  /** JSON. */
  callback_data: string
  overlap: string
  status: string
  /** What its timer names: one for another time does nothing. */
  next_run: string | null
  last_run: string | null
  created_at: string
  updated_at: string
}

interface ScheduleExecutionsTable {
  id: string
  schedule_id: string
  /** Its place in the history; the first of the times that were missed. */
  time: string
  /** Null where a person started it, and for what was missed: a time that comes again has not been run. */
  scheduled_for: string | null
  /** The last of the times that were missed. */
  missed_until: string | null
  /** The times that it stands for. */
  count: number
  /** Null until its callback is started. */
  executed_at: string | null
  status: string
  error: string | null
  workflow_execution_id: string | null
  late_seconds: number
}

export const scheduleTables = defineAgentTables<ScheduleTables>({
  rules: {
    schedules: { sql: readable, copy: { key: ['id'] } },
    schedule_executions: { sql: readable, copy: { key: ['id'] } },
  },
  async create(db, { textType }) {
    await db.schema
      .createTable('schedules')
      .addColumn('id', textType, column => column.primaryKey())
      .addColumn('name', textType, column => column.notNull())
      .addColumn('type', textType, column => column.notNull())
      .addColumn('cron_expression', textType)
      .addColumn('delay_seconds', 'integer')
      .addColumn('timezone', textType, column => column.notNull())
      .addColumn('callback_type', textType, column => column.notNull())
      .addColumn('callback_id', textType)
      .addColumn('callback_data', textType, column => column.notNull())
      .addColumn('overlap', textType, column => column.notNull())
      .addColumn('status', textType, column => column.notNull())
      .addColumn('next_run', textType)
      .addColumn('last_run', textType)
      .addColumn('created_at', textType, column => column.notNull())
      .addColumn('updated_at', textType, column => column.notNull())
      .execute()
    await db.schema.createIndex('schedules_created').on('schedules').columns(['created_at', 'id']).execute()
    await db.schema
      .createTable('schedule_executions')
      .addColumn('id', textType, column => column.primaryKey())
      .addColumn('schedule_id', textType, column =>
        column.notNull().references('schedules.id').onDelete('cascade'),
      )
      .addColumn('time', textType, column => column.notNull())
      .addColumn('scheduled_for', textType)
      .addColumn('missed_until', textType)
      .addColumn('count', 'integer', column => column.notNull())
      .addColumn('executed_at', textType)
      .addColumn('status', textType, column => column.notNull())
      .addColumn('error', textType)
      .addColumn('workflow_execution_id', textType, column => column.unique())
      .addColumn('late_seconds', 'integer', column => column.notNull())
      .addUniqueConstraint('schedule_executions_scheduled', ['schedule_id', 'scheduled_for'])
      .execute()
    await db.schema
      .createIndex('schedule_executions_time')
      .on('schedule_executions')
      .columns(['schedule_id', 'time'])
      .execute()
  },
})
