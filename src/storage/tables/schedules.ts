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
  scheduled_for: string
  /** Null for what was missed. */
  executed_at: string | null
  /** `running` until its callback has ended. */
  status: string
  error: string | null
  workflow_execution_id: string | null
  late_seconds: number
  /** Times that this row stands for, from `scheduled_for` to `missed_to`; 0 for what was not missed. */
  missed_count: number
  missed_to: string | null
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
      .addColumn('scheduled_for', textType, column => column.notNull())
      .addColumn('executed_at', textType)
      .addColumn('status', textType, column => column.notNull())
      .addColumn('error', textType)
      .addColumn('workflow_execution_id', textType, column => column.unique())
      .addColumn('late_seconds', 'integer', column => column.notNull())
      .addColumn('missed_count', 'integer', column => column.notNull())
      .addColumn('missed_to', textType)
      .addUniqueConstraint('schedule_executions_time', ['schedule_id', 'scheduled_for'])
      .execute()
  },
})
