/** What started an execution. */
export interface Cause {
  kind: 'manual' | 'event' | 'schedule' | 'calendar' | 'webhook' | 'tool'
  ref?: string
}

/** What an event says of an execution that has ended. */
interface ExecutionEvent {
  agentId: string
  workflow_id: string
  execution_id: string
  cause: Cause
  /** Of executions that caused one another. */
  depth: number
  /** Unless it is long. */
  output?: unknown
  error?: string
}

/** The events of this feature. */
export interface WorkflowEvents {
  'workflow.complete': ExecutionEvent
  'workflow.errored': ExecutionEvent
}
export const workflowEvents = [
  'workflow.complete',
  'workflow.errored',
] as const satisfies (keyof WorkflowEvents)[]
