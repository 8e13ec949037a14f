import { partOf, text, textOrNull, unique } from '#platform/columns.ts'
import { declareAgentTables, hidden, readable } from './table-set.ts'

/** Tasks of the calendar, and their occurrences. */
export const calendarTables = declareAgentTables({
  calendar_tasks: {
    sql: readable,
    columns: {
      id: text,
      title: text,
      description: text,
      start_time: text,
      end_time: textOrNull,
      timezone: text,
      recurrence: text,
      /** JSON list of days of the week. */
      recurrence_days: text,
      recurrence_end: textOrNull,
      /** JSON list of dates. */
      exceptions: text,
      workflow_id: textOrNull,
      status: text,
      /** The end of its last occurrence; a time far away if there is none. */
      ends_at: text,
      /** Time when its timer is due; a timer for another time does nothing. */
      next_due: textOrNull,
      created_at: text,
      updated_at: text,
    },
    indexes: { start: ['start_time', 'id'], end: ['ends_at', 'id'] },
  },
  task_occurrences: {
    sql: readable,
    columns: {
      id: text,
      task_id: partOf('calendar_tasks'),
      starts_at: text,
      status: text,
      error: textOrNull,
      workflow_execution_id: unique(textOrNull),
    },
    together: { start: ['task_id', 'starts_at'] },
  },
  calendar_feeds: {
    sql: hidden,
    columns: {
      /** Key of the only row. */
      name: text,
      token_hash: text,
    },
    key: ['name'],
  },
})
