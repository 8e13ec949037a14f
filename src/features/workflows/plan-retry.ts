import { conflict, invalid, notFound } from '#platform/errors.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { checkDefinition, requireNode, requireNone } from './definition.ts'
import type { Graph } from './engine/graph.ts'
import { reachable } from './engine/graph.ts'
import type { NodeResult } from './engine/plan.ts'
import type { StartRequest } from './execution-lifecycle.ts'
import type { ExecutionRow } from './executions.repository.ts'
import { readResults } from './executions.repository.ts'
import type { NodeTypes } from './nodes/node-types.ts'
import { findDefinition, findWorkflow } from './workflows.repository.ts'
import type { Definition, Retry } from './workflows.schema.ts'

/** A version of a workflow, the current one unless given. */
export async function requireDefinition(
  { db }: AgentHandle,
  workflowId: string,
  version?: number,
): Promise<Definition> {
  const workflow = await findWorkflow(db, workflowId)
  const definition = workflow && (await findDefinition(db, workflowId, version ?? workflow.version))
  if (definition === undefined) throw notFound('Workflow')
  return definition
}

/** How to start an execution that goes on where an ended one failed, or from another node. */
export async function planRetry(
  agent: AgentHandle,
  types: NodeTypes,
  { id, status, workflow_id, version: formerVersion, input, depth }: ExecutionRow,
  { from_node, version }: Retry,
): Promise<StartRequest> {
  if (status === 'running' || status === 'queued') throw conflict('The execution has not ended yet.')
  const chosen = version === 'same' ? { version: formerVersion } : {}
  const former = await requireDefinition(agent, workflow_id, formerVersion)
  const { graph, missing } = checkDefinition(
    await requireDefinition(agent, workflow_id, chosen.version),
    types,
  )
  requireNone(missing)
  if (from_node !== undefined) requireNode(graph, from_node, 'from_node')
  const results = reusable(await readResults(agent.db, id), graph, from_node)
  requireUnchanged(results, former, graph)
  const cause = { kind: 'manual', ref: id } as const
  return { workflow_id, input: JSON.parse(input), cause, depth, when_busy: 'refuse', results, ...chosen }
}

/** What need not be done again: all that has ended well before the node, or, without one, at all. */
function reusable(results: ReadonlyMap<string, NodeResult>, graph: Graph, from?: string): NodeResult[] {
  const next = (id: string) => (graph.outgoing.get(id) ?? []).map(({ target }) => target)
  const repeated = reachable(from === undefined ? [] : [outermost(graph, from)], next)
  const isHandled = (id: string) =>
    graph.outgoing.get(id)?.some(({ sourceHandle }) => sourceHandle === 'error')
  return [...results.values()].filter(({ node_id, path, status }) => {
    const isDone = status === 'complete' || (status === 'errored' && isHandled(node_id))
    return isDone && path === '' && !repeated.has(node_id)
  })
}

/** Loops begin again as a whole. */
function outermost({ loopOf }: Graph, id: string): string {
  const loop = loopOf.get(id)
  return loop === undefined ? id : outermost({ loopOf } as Graph, loop)
}

function requireUnchanged(results: readonly NodeResult[], former: Definition, { nodes }: Graph): void {
  const before = new Map(former.nodes.map(({ id, type }) => [id, type]))
  const changed = results.find(({ node_id }) => nodes.get(node_id)?.type !== before.get(node_id))
  if (changed === undefined) return
  throw invalid(
    'version',
    `must be same: ${changed.node_id}, whose result is needed, is gone or of another type`,
  )
}
