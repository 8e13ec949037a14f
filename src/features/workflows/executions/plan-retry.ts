import { conflict, invalid } from '#platform/errors.ts'
import { parseJson } from '#platform/exact-json.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { checkDefinition, requireNode, requireNone } from '../definitions/definition.ts'
import { requireWorkflow } from '../definitions/workflows.service.ts'
import { type Graph, reachable } from '../engine/graph.ts'
import type { NodeResult } from '../engine/plan.ts'
import { isOpen } from '../execution-status.ts'
import type { NodeTypes } from '../nodes/node-types.ts'
import type { ExecutionRow } from '../rows/executions.repository.ts'
import { byBeginning, readResults } from '../rows/node-results.repository.ts'
import type { Definition, Retry } from '../workflows.schema.ts'
import type { ExecutionOptions, StartRequest } from './lifecycle.service.ts'

/** Plans an execution that continues where an ended one failed, or from another node. */
export async function planRetry(
  agent: AgentHandle,
  types: NodeTypes,
  { id, status, workflow_id, version: formerVersion, input, depth, options }: ExecutionRow,
  { from_node, version }: Retry,
): Promise<StartRequest> {
  if (isOpen(status)) throw conflict('The execution has not ended yet.')
  const chosen = version === 'same' ? { version: formerVersion } : {}
  const former = await requireWorkflow(agent.db, workflow_id, formerVersion)
  const next = await requireWorkflow(agent.db, workflow_id, chosen.version)
  const { graph, missing } = checkDefinition(next.version, types)
  requireNone(missing)
  if (from_node !== undefined) requireNode(graph, from_node, 'from_node')
  const results = reusable(await readResults(agent.db, id), graph, from_node)
  requireUnchanged(results, former.version, graph)
  const cause = { kind: 'manual', ref: id } as const
  const { trigger } = parseJson(options) as ExecutionOptions
  const triggerOptions = trigger === undefined ? {} : { options: { trigger } }
  return {
    workflow_id,
    input: parseJson(input),
    cause,
    depth,
    when_busy: 'refuse',
    results,
    ...chosen,
    ...triggerOptions,
  }
}

/** Returns all results that ended well before the node, or all without one. Loops restart as a whole. */
function reusable(results: readonly NodeResult[], { outgoing, loopOf }: Graph, from?: string): NodeResult[] {
  const outermost = (id: string): string => {
    const loop = loopOf.get(id)
    return loop === undefined ? id : outermost(loop)
  }
  const edgesFrom = (id: string) => outgoing.get(id) ?? []
  const next = (id: string) => edgesFrom(id).map(({ target }) => target)
  const repeated = reachable(from === undefined ? [] : [outermost(from)], next)
  const isHandled = (id: string) => edgesFrom(id).some(({ sourceHandle }) => sourceHandle === 'error')
  const reused = results.toSorted(byBeginning).filter(({ node_id, path, status }) => {
    const isDone = status === 'complete' || (status === 'errored' && isHandled(node_id))
    return isDone && path === '' && !repeated.has(node_id)
  })
  return reused.map((result, index) => ({
    ...result,
    began: index - reused.length,
    ended: index - reused.length,
  }))
}

function requireUnchanged(results: readonly NodeResult[], former: Definition, { nodes }: Graph): void {
  const before = new Map(former.nodes.map(({ id, type }) => [id, type]))
  const changed = results.find(({ node_id }) => nodes.get(node_id)?.type !== before.get(node_id))
  if (changed === undefined) return
  const issue = `must be same: ${changed.node_id}, whose result is needed, is gone or of another type`
  throw invalid('version', issue)
}
