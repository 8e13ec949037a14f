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
      /** Time when its timer is due; a timer for another time does nothing. */
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
      /** Time of its place in the history; the first of the missed times. */
      time: text,
      /** Null if a person started it, and for missed times: a time that comes again has not been run. */
      scheduled_for: textOrNull,
      /** The last of the missed times. */
      missed_until: textOrNull,
      /** Number of times that the row covers. */
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
