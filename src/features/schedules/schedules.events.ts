import { Type } from 'typebox'
import { eventOf, type PayloadsOf } from '#platform/jobs/event-payloads.ts'
import { orNull } from '#platform/own-schemas.ts'

/** The events of this feature; the end of a callback is in the history of its schedule. */
export const scheduleEvents = {
  'schedule.fired': eventOf('A schedule has started its callback.', {
    schedule_id: Type.String(),
    execution_id: Type.String(),
    scheduled_for: orNull(
      Type.String({ format: 'date-time', description: 'Null where a person started it.' }),
    ),
    callback_type: Type.String(),
  }),
}
export type ScheduleEvents = PayloadsOf<typeof scheduleEvents>
