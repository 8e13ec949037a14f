/** The events of this feature. */
export interface CalendarEvents {
  'task.due': {
    agentId: string
    task_id: string
    title: string
    start_time: string
    end_time: string | null
    /** Of the execution that was started; null without one. */
    workflow_execution_id: string | null
  }
}
