/** The events of this feature; how a callback ends is in the history of its schedule. */
export interface ScheduleEvents {
  'schedule.fired': {
    agentId: string
    schedule_id: string
    execution_id: string
    /** Null where a person started it. */
    scheduled_for: string | null
    callback_type: string
  }
}
