import { integer, integerOrNull, partOf, text, textOrNull, unique } from '#platform/columns.ts'
import { declareAgentTables, readable } from './table-set.ts'

/** Schedules, and the history of their executions. */
export const scheduleTables = declareAgentTables({
  schedules: {
    sql: readable,
    columns: {
      id: text,
      name: text,
      type: text,
      cron_expression: textOrNull,
      delay_seconds: integerOrNull,
      timezone: text,
      callback_type: text,
      callback_id: textOrNull,
      /** JSON. */
      callback_data: text,
      overlap: text,
      status: text,
      /** When its timer is due; a timer for another time does nothing. */
      next_run: textOrNull,
      last_run: textOrNull,
      created_at: text,
      updated_at: text,
    },
    indexes: { created: ['created_at', 'id'] },
  },
  schedule_executions: {
    sql: readable,
    columns: {
      id: text,
      schedule_id: partOf('schedules'),
      /** Its place in the history; the first of the times that were missed. */
      time: text,
      /** Null where a person started it, and for what was missed: a time that comes again has not been run. */
      scheduled_for: textOrNull,
      /** The last of the times that were missed. */
      missed_until: textOrNull,
      /** The times that it stands for. */
      count: integer,
      /** Null until its callback is started. */
      executed_at: textOrNull,
      status: text,
      error: textOrNull,
      workflow_execution_id: unique(textOrNull),
      late_seconds: integer,
    },
    together: { scheduled: ['schedule_id', 'scheduled_for'] },
    indexes: { time: ['schedule_id', 'time'] },
  },
})
