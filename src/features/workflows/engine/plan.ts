import type { StoredNodeStatus } from '../execution-status.ts'
import { hasEnded } from '../execution-status.ts'
import type { Edge, Node } from '../workflows.schema.ts'
import type { Graph } from './graph.ts'
import { outside } from './graph.ts'

/** What is known of a node, or of one of its runs in a loop; the columns of its row. */
export interface NodeResult {
  node_id: string
  path: string
  status: StoredNodeStatus
  attempts: number
  handle: string | null
  output: string | null
  error: string | null
  warnings: string | null
  due_at: string | null
  started_at: string
  duration_ms: number
}

/** By `keyOf` their node and path. */
export type Results = ReadonlyMap<string, NodeResult>

/** A node, in one pass through the loops that it is in. */
export interface Place {
  node: Node
  path: string
}

/** How a scope has ended: the output as JSON, or the error of the node that failed. */
export type Outcome = { output: string } | { failed: string; error: string }

export interface Plan {
  /** To begin. */
  ready: Place[]
  /** Begun: they run, or did when their process died. */
  running: Place[]
  waiting: Place[]
  /** Loops whose items have ended. */
  loops: (Place & { outcome: Outcome })[]
  /** There once nothing else is. */
  end: Outcome | undefined
}

/** What a loop has stored when its items begin; `items` may be long. */
export interface LoopItems {
  items: unknown[]
  concurrency: number
  stopsOnError: boolean
}

const readItems = new WeakMap<NodeResult, LoopItems>()

/** Of a loop whose items run. */
export function itemsOf(result: NodeResult): LoopItems {
  const items = readItems.get(result) ?? (JSON.parse(result.output ?? '') as LoopItems)
  readItems.set(result, items)
  return items
}

export function keyOf(nodeId: string, path: string): string {
  return `${nodeId} ${path}`
}

export function resultsOf(rows: readonly NodeResult[]): Map<string, NodeResult> {
  return new Map(rows.map(row => [keyOf(row.node_id, row.path), row]))
}

/** Whether a person has to decide before the node goes on. */
export function awaitsDecision({ status, output }: NodeResult): boolean {
  return status === 'waiting' && JSON.parse(output ?? '{}').approval !== undefined
}

/**
 * What runs next, from the definition and the results alone. An edge is unknown, taken or skipped; a node begins once no
 * edge to it is unknown and one is taken, and is skipped if all are. After a failure that no edge leaves by, nothing begins,
 * and the end comes once nothing runs.
 * @param ended what is known of the scopes that have ended: the same map for each plan of an execution saves time.
 */
export function plan(graph: Graph, results: Results, ended = new Map<string, Outcome>()): Plan {
  return planScope({ graph, results, ended }, outside, '')
}

interface Planner {
  graph: Graph
  results: Results
  ended: Map<string, Outcome>
}

/** One pass through the body of a loop, or through what is outside of loops. */
function planScope(planner: Planner, loop: string, path: string): Plan {
  const { graph, results, ended } = planner
  const known = ended.get(keyOf(loop, path))
  if (known !== undefined) return { ...emptyPlan(), end: known }
  const nodes = graph.scopes.get(loop) ?? []
  const failed = nodes
    .map(({ id }) => results.get(keyOf(id, path)))
    .find(result => result?.status === 'errored' && !leavesByError(graph, result.node_id))
  const planned = planNodes(planner, nodes, loop, path)
  const isOpen = Object.values(planned).some(places => places?.length > 0)
  if (failed === undefined && isOpen) return planned
  const { running } = planned
  if (running.length > 0) return { ...emptyPlan(), running }
  const end = failed
    ? { failed: failed.node_id, error: failed.error ?? '' }
    : { output: outputOf(planner, nodes, loop, path) }
  ended.set(keyOf(loop, path), end)
  return { ...emptyPlan(), end }
}

function emptyPlan(): Plan {
  return { ready: [], running: [], waiting: [], loops: [], end: undefined }
}

function leavesByError(graph: Graph, id: string): boolean {
  return graph.outgoing.get(id)?.some(({ sourceHandle }) => sourceHandle === 'error') ?? false
}

function planNodes(planner: Planner, nodes: readonly Node[], loop: string, path: string): Plan {
  const { graph, results } = planner
  const planned = emptyPlan()
  const skipped = new Set<string>()
  const stateOf = (edge: Edge) => {
    if (edge.source === loop) return 'taken'
    if (skipped.has(edge.source)) return 'skipped'
    const result = results.get(keyOf(edge.source, path))
    if (result === undefined || !hasEnded(result)) return 'unknown'
    return leavesBy(edge, result) ? 'taken' : 'skipped'
  }
  for (const node of nodes) {
    const place = { node, path }
    const result = results.get(keyOf(node.id, path))
    if (result?.status === 'looping') addLoop(planner, planned, place, result)
    else if (result?.status === 'running') planned.running.push(place)
    else if (result?.status === 'waiting') planned.waiting.push(place)
    if (result !== undefined) continue
    const edges = (graph.incoming.get(node.id) ?? []).map(stateOf)
    if (edges.includes('unknown')) continue
    if (node.type === 'trigger' || edges.includes('taken')) planned.ready.push(place)
    else skipped.add(node.id)
  }
  return planned
}

/** Adds what its items do next, or its end. */
function addLoop(planner: Planner, planned: Plan, place: Place, result: NodeResult): void {
  const { items, concurrency, stopsOnError } = itemsOf(result)
  const outcomes: Outcome[] = []
  const open: Plan[] = []
  for (let index = 0; index < items.length && open.length < concurrency; index += 1) {
    const path = place.path === '' ? String(index) : `${place.path}.${index}`
    const item = planScope(planner, place.node.id, path)
    if (item.end === undefined) open.push(item)
    else outcomes.push(item.end)
  }
  const failure = stopsOnError ? outcomes.find(outcome => 'failed' in outcome) : undefined
  const running = open.flatMap(item => item.running)
  planned.running.push(...running)
  if (failure !== undefined) {
    if (running.length === 0) planned.loops.push({ ...place, outcome: failure })
    return
  }
  for (const item of open) {
    planned.ready.push(...item.ready)
    planned.waiting.push(...item.waiting)
    planned.loops.push(...item.loops)
  }
  if (outcomes.length === items.length)
    planned.loops.push({ ...place, outcome: { output: outputOfLoop(outcomes) } })
}

function outputOfLoop(outcomes: readonly Outcome[]): string {
  const items = outcomes.map(outcome => ('failed' in outcome ? 'null' : outcome.output))
  const errors = outcomes.flatMap((outcome, index) =>
    'failed' in outcome ? [{ index, node_id: outcome.failed, message: outcome.error }] : [],
  )
  return `{"items":[${items.join(',')}],"errors":${JSON.stringify(errors)}}`
}

/** What the nodes have given that no other follows: the output of the only one, or of each by its id. */
function outputOf({ graph, results }: Planner, nodes: readonly Node[], loop: string, path: string): string {
  const last = nodes.flatMap(({ id }) => {
    const result = results.get(keyOf(id, path))
    const goesOn = graph.outgoing.get(id)?.some(edge => {
      return edge.target !== loop && result !== undefined && leavesBy(edge, result)
    })
    return result === undefined || goesOn ? [] : [{ id, output: result.output ?? 'null' }]
  })
  if (last.length <= 1) return last[0]?.output ?? 'null'
  return `{${last.map(({ id, output }) => `${JSON.stringify(id)}:${output}`).join(',')}}`
}

function leavesBy({ sourceHandle }: Edge, { status, handle }: NodeResult): boolean {
  if (status === 'errored') return sourceHandle === 'error'
  return handle === null ? sourceHandle !== 'error' : sourceHandle === handle
}
