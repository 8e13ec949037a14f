import { turn } from '#platform/event-loop/turns.ts'
import { parseJson } from '#platform/exact-json.ts'
import { hasEnded, type StoredNodeStatus } from '../execution-status.ts'
import type { Edge, Node } from '../workflows.schema.ts'
import { type Graph, outside } from './graph.ts'

/** The result of a node, or of one of its runs in a loop; the columns of its row. */
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
  /** See the columns of the table. */
  began: number | null
  ended: number | null
  completed_at: string | null
}

/** Results by `keyOf` their node and path. */
export type Results = ReadonlyMap<string, NodeResult>

/** A node in one pass through its loops. */
export interface Place {
  node: Node
  path: string
}

/** The end of a scope: its output as JSON, or the error of the node that failed. */
export type Outcome = { output: string } | { failed: string; error: string }

export interface Plan {
  /** Nodes to begin. */
  ready: Place[]
  /** Nodes that have begun: they run, or did when their process died. */
  running: Place[]
  waiting: Place[]
  /** Loops whose items have ended. */
  loops: (Place & { outcome: Outcome })[]
  /** Min number of results that the loop items not yet begun will add. */
  ahead: number
  /** Set once all other fields are empty. */
  end: Outcome | undefined
}

/** The output that a loop stores when its items begin; `items` can be long. */
export interface LoopItems {
  items: unknown[]
  concurrency: number
  stopsOnError: boolean
}

const readItems = new WeakMap<NodeResult, LoopItems>()

/** Returns the items of a loop that runs. */
export function itemsOf(result: NodeResult): LoopItems {
  const items = readItems.get(result) ?? (parseJson(result.output ?? '') as LoopItems)
  readItems.set(result, items)
  return items
}

export function keyOf(nodeId: string, path: string): string {
  return `${nodeId} ${path}`
}

export function resultsOf(rows: readonly NodeResult[]): Map<string, NodeResult> {
  return new Map(rows.map(row => [keyOf(row.node_id, row.path), row]))
}

/** Returns the characters of the result's texts, which can be long. */
export function sizeOf({ output, error, warnings }: Partial<NodeResult> = {}): number {
  return (output?.length ?? 0) + (error?.length ?? 0) + (warnings?.length ?? 0)
}

/** True if a person must decide before the node continues. */
export function awaitsDecision({ status, output }: NodeResult): boolean {
  return status === 'waiting' && JSON.parse(output ?? '{}').approval !== undefined
}

/** True if the node or its turn waits for a person. */
export function awaitsPerson(result: NodeResult): boolean {
  const hasTurn = result.status === 'waiting' && JSON.parse(result.output ?? '{}').turn === true
  return hasTurn || awaitsDecision(result)
}

/** The input of a plan: the definition, the results, and the findings of earlier plans. */
interface Planner {
  graph: Graph
  results: Results
  /** The last plans by `keyOf` loop and path, deleted when a result in them changes. */
  scopes: Map<string, Plan>
  loops: Map<string, LoopProgress>
}

interface LoopProgress {
  /** Outcomes by the index of the item. */
  outcomes: Outcome[]
  ended: number
  /** Items that have begun and not ended. */
  open: number[]
}

/**
 * Plans the next nodes to run. An edge is unknown, taken or skipped; a node begins once none is unknown and
 * one is taken, and is skipped if all are. After a failure without an error edge no node begins.
 * @param results may change if `changed` is called for each change.
 */
export function createPlanner(graph: Graph, results: Results) {
  const planner: Planner = { graph, results, scopes: new Map(), loops: new Map() }
  return {
    plan: (): Promise<Plan> => planScope(planner, outside, ''),

    changed({ node_id, path }: NodeResult): void {
      let loop = graph.loopOf.get(node_id)
      for (let at = path; loop !== undefined; at = at.slice(0, Math.max(0, at.lastIndexOf('.')))) {
        planner.scopes.delete(keyOf(loop, at))
        loop = graph.loopOf.get(loop)
      }
      planner.scopes.delete(keyOf(outside, ''))
    },
  }
}

/** Plans one pass through the body of a loop, or through the nodes outside of loops. */
async function planScope(planner: Planner, loop: string, path: string): Promise<Plan> {
  const key = keyOf(loop, path)
  const known = planner.scopes.get(key)
  if (known !== undefined) return known
  await turn()
  const planned = await planAgain(planner, loop, path)
  planner.scopes.set(key, planned)
  return planned
}

async function planAgain(planner: Planner, loop: string, path: string): Promise<Plan> {
  const { graph, results } = planner
  const nodes = graph.scopes.get(loop) ?? []
  const failed = nodes
    .map(({ id }) => results.get(keyOf(id, path)))
    .find(result => result?.status === 'errored' && !leavesByError(graph, result.node_id))
  const planned = await planNodes(planner, nodes, loop, path)
  const { ready, running, waiting, loops } = planned
  const isOpen = [ready, running, waiting, loops].some(places => places.length > 0)
  if (failed === undefined && isOpen) return planned
  if (running.length > 0) return { ...emptyPlan(), running }
  const end = failed
    ? { failed: failed.node_id, error: failed.error ?? '' }
    : { output: outputOf(planner, nodes, loop, path) }
  return { ...emptyPlan(), end }
}

function emptyPlan(): Plan {
  return { ready: [], running: [], waiting: [], loops: [], ahead: 0, end: undefined }
}

function leavesByError(graph: Graph, id: string): boolean {
  return graph.outgoing.get(id)?.some(({ sourceHandle }) => sourceHandle === 'error') ?? false
}

async function planNodes(
  planner: Planner,
  nodes: readonly Node[],
  loop: string,
  path: string,
): Promise<Plan> {
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
    if (result?.status === 'looping') await addLoop(planner, planned, place, result)
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

/** Adds the next nodes of a loop's items, or the loop's end. */
async function addLoop(planner: Planner, planned: Plan, place: Place, result: NodeResult): Promise<void> {
  const { items, concurrency, stopsOnError } = itemsOf(result)
  const { progress, open } = await planItems(planner, place, items.length, concurrency)
  const failure = stopsOnError ? progress.outcomes.find(outcome => outcome && 'failed' in outcome) : undefined
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
    planned.ahead += item.ahead
  }
  const unbegun = items.length - progress.ended - open.length
  planned.ahead += unbegun * firstNodes(planner.graph, place.node.id)
  if (progress.ended === items.length)
    planned.loops.push({ ...place, outcome: { output: outputOfLoop(progress.outcomes) } })
}

/** Plans the open items, and begins others in the places of those that have ended. */
async function planItems(planner: Planner, { node, path }: Place, count: number, concurrency: number) {
  const key = keyOf(node.id, path)
  const progress = planner.loops.get(key) ?? { outcomes: [], ended: 0, open: [] }
  planner.loops.set(key, progress)
  let next = progress.ended + progress.open.length
  const open = new Map<number, Plan>()
  const add = async (index: number) => {
    const item = await planScope(planner, node.id, path === '' ? String(index) : `${path}.${index}`)
    if (item.end === undefined) open.set(index, item)
    else {
      progress.outcomes[index] = item.end
      progress.ended += 1
    }
  }
  for (const index of progress.open) await add(index)
  for (; open.size < concurrency && next < count; next += 1) await add(next)
  progress.open = [...open.keys()]
  return { progress, open: [...open.values()] }
}

/** Returns the number of nodes that begin with each item of a loop. */
function firstNodes({ scopes, incoming }: Graph, loop: string): number {
  const isFirst = ({ id }: Node) => incoming.get(id)?.some(({ source }) => source === loop)
  return (scopes.get(loop) ?? []).filter(isFirst).length
}

/** Joins texts with commas by appending, which copies nothing: the whole might be too long to keep. */
export function joined(texts: readonly string[]): string {
  return texts.reduce((whole, text, index) => whole + (index === 0 ? '' : ',') + text, '')
}

function outputOfLoop(outcomes: readonly Outcome[]): string {
  const items = outcomes.map(outcome => ('failed' in outcome ? 'null' : outcome.output))
  const errors = outcomes.flatMap((outcome, index) =>
    'failed' in outcome ? [{ index, node_id: outcome.failed, message: outcome.error }] : [],
  )
  return `{"items":[${joined(items)}],"errors":${JSON.stringify(errors)}}`
}

/** Returns the output of the last node, or outputs by id if several nodes are last. */
function outputOf({ graph, results }: Planner, nodes: readonly Node[], loop: string, path: string): string {
  const last = nodes.flatMap(({ id }) => {
    const result = results.get(keyOf(id, path))
    const goesOn = graph.outgoing.get(id)?.some(edge => {
      return edge.target !== loop && result !== undefined && leavesBy(edge, result)
    })
    return result === undefined || goesOn ? [] : [{ id, output: result.output ?? 'null' }]
  })
  if (last.length <= 1) return last[0]?.output ?? 'null'
  return `{${joined(last.map(({ id, output }) => `${JSON.stringify(id)}:${output}`))}}`
}

function leavesBy({ sourceHandle }: Edge, { status, handle }: NodeResult): boolean {
  if (status === 'errored') return sourceHandle === 'error'
  return handle === null ? sourceHandle !== 'error' : sourceHandle === handle
}
