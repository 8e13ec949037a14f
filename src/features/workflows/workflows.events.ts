import type { EndStatus } from './execution-status.ts'

/** The cause of an execution. */
export interface Cause {
  kind: 'manual' | 'event' | 'schedule' | 'calendar' | 'webhook' | 'tool'
  /** Names it more closely, such as the id of a schedule or the name of an event. */
  ref?: string
}

/** How an execution has ended. */
export interface ExecutionEnd {
  workflow_id: string
  execution_id: string
  status: EndStatus
  cause: Cause
  /** Of executions that caused one another. */
  depth: number
  /** Unless it is long. */
  output?: unknown
  error?: string
}

/** The events of this feature. Executions that people terminate cause none. */
export interface WorkflowEvents {
  'workflow.complete': ExecutionEnd & { agentId: string }
  'workflow.errored': ExecutionEnd & { agentId: string }
}
export const workflowEvents = [
  'workflow.complete',
  'workflow.errored',
] as const satisfies (keyof WorkflowEvents)[]
