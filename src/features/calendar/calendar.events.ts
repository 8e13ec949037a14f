import { Type } from 'typebox'
import { eventOf, type PayloadsOf } from '#platform/jobs/event-payloads.ts'
import { orNull } from '#platform/own-schemas.ts'

const time = Type.String({ format: 'date-time' })

export const calendarEvents = {
  'task.due': eventOf('The time of a task, or of an occurrence of it, has come.', {
    task_id: Type.String(),
    title: Type.String(),
    start_time: time,
    end_time: orNull(time),
    workflow_execution_id: orNull(
      Type.String({ description: 'Of the execution that was started; null without one.' }),
    ),
  }),
}
export type CalendarEvents = PayloadsOf<typeof calendarEvents>
