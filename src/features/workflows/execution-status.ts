/*
 * The states of an execution and of its nodes; engine/README.md shows how they follow each other.
 */

export const executionStatuses = ['queued', 'running', 'complete', 'errored', 'terminated'] as const
export type ExecutionStatus = (typeof executionStatuses)[number]
export type EndStatus = Exclude<ExecutionStatus, 'queued' | 'running'>

/** Statuses of executions that have not ended. */
export const openStatuses = ['queued', 'running'] as const satisfies ExecutionStatus[]

export function isOpen(status: string): boolean {
  return openStatuses.some(open => open === status)
}

/** Statuses that are shown. */
export const nodeStatuses = ['running', 'waiting', 'complete', 'errored', 'terminated'] as const
export type NodeStatus = (typeof nodeStatuses)[number]

/** Stored statuses. `looping` is a loop whose items run; its output holds the items. */
export type StoredNodeStatus = Exclude<NodeStatus, 'terminated'> | 'looping'

export function hasEnded(node: { status: StoredNodeStatus }): boolean {
  return node.status === 'complete' || node.status === 'errored'
}

/** Returns `terminated` for a node that was cut off when its execution ended. */
export function shownStatus(node: { status: StoredNodeStatus }, execution: { status: string }): NodeStatus {
  if (!hasEnded(node) && execution.status !== 'running') return 'terminated'
  return node.status === 'looping' ? 'running' : node.status
}
