/** The events of this feature; how its callback ends is in the history of the schedule. */
export interface ScheduleEvents {
  'schedule.fired': {
    agentId: string
    schedule_id: string
    execution_id: string
    scheduled_for: string
    callback_type: string
  }
}
export const scheduleEvents = ['schedule.fired'] as const satisfies (keyof ScheduleEvents)[]
