/*
 * The states of an execution and of its nodes; engine/README.md shows how they follow each other.
 */

export const executionStatuses = ['queued', 'running', 'complete', 'errored', 'terminated'] as const
export type ExecutionStatus = (typeof executionStatuses)[number]
export type EndStatus = Exclude<ExecutionStatus, 'queued' | 'running'>

/** Of executions that have not ended. */
export const openStatuses = ['queued', 'running'] as const satisfies ExecutionStatus[]

export function isOpen(status: string): boolean {
  return openStatuses.some(open => open === status)
}

/** As they are shown. */
export const nodeStatuses = ['running', 'waiting', 'complete', 'errored', 'terminated'] as const
export type NodeStatus = (typeof nodeStatuses)[number]

/** As they are stored. `looping`: a loop whose items run, which are in its output. */
export type StoredNodeStatus = Exclude<NodeStatus, 'terminated'> | 'looping'

export function hasEnded(node: { status: StoredNodeStatus }): boolean {
  return node.status === 'complete' || node.status === 'errored'
}

/** A node that was cut off when its execution ended is shown as terminated. */
export function shownStatus(node: { status: StoredNodeStatus }, execution: { status: string }): NodeStatus {
  if (!hasEnded(node) && execution.status !== 'running') return 'terminated'
  return node.status === 'looping' ? 'running' : node.status
}
