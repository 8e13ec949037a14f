import type { Definition, Edge, Node } from '../workflows.schema.ts'

/** A definition with the indexes for the engine. */
export interface Graph {
  nodes: ReadonlyMap<string, Node>
  /** The nodes of each loop's body (outside of loops: the empty name), in the order of their edges. */
  scopes: ReadonlyMap<string, readonly Node[]>
  /** The innermost loop whose body contains a node. */
  loopOf: ReadonlyMap<string, string>
  /** Edges without those by which a body returns to its loop. */
  incoming: ReadonlyMap<string, readonly Edge[]>
  outgoing: ReadonlyMap<string, readonly Edge[]>
}

/** A problem of a definition. */
export interface Problem {
  /** The node's id; absent for a problem of the whole definition. */
  node?: string | undefined
  field: string
  issue: string
}

export const outside = ''
const maxLevels = 3

/** Indexes a definition. Edges must lead to existing nodes with unique ids. */
export function readGraph({ nodes: all, edges }: Definition): { graph: Graph; problems: Problem[] } {
  const nodes = new Map(all.map(node => [node.id, node]))
  const outgoing = Map.groupBy(edges, ({ source }) => source)
  const loopOf = findLoops(all, outgoing)
  const incoming = Map.groupBy(
    edges.filter(({ source, target }) => loopOf.get(source) !== target),
    ({ target }) => target,
  )
  const members = Map.groupBy(all, ({ id }) => loopOf.get(id) ?? outside)
  const scopes = new Map([...members].map(([loop, body]) => [loop, inOrder(body, incoming)]))
  const ordered = new Set([...scopes.values()].flat())
  const graph = { nodes, scopes, loopOf, incoming, outgoing }
  const problems = [
    ...edges.flatMap(edge => edgeProblem(edge, graph) ?? []),
    ...all.filter(node => !ordered.has(node)).map(({ id }) => problem(id, 'is in a cycle, or behind one')),
    ...all
      .filter(({ id }) => levelsOf(id, loopOf) > maxLevels)
      .map(({ id }) => problem(id, `is in more than ${maxLevels} loops, or in a loop that is in itself`)),
  ]
  return { graph, problems }
}

function problem(node: string, issue: string): Problem {
  return { node, field: 'edges', issue }
}

/** Maps nodes to loops. A loop's body is all that its edges `item` reach without passing the loop. */
function findLoops(nodes: readonly Node[], outgoing: Graph['outgoing']): Map<string, string> {
  const bodies = nodes
    .filter(({ type }) => type === 'loop')
    .map(({ id }) => ({ id, body: bodyOf(id, outgoing) }))
    .toSorted((one, other) => other.body.size - one.body.size)
  return new Map(bodies.flatMap(({ id, body }) => [...body].map(inner => [inner, id] as const)))
}

function bodyOf(loop: string, outgoing: Graph['outgoing']): Set<string> {
  const items = (outgoing.get(loop) ?? []).filter(({ sourceHandle }) => sourceHandle === 'item')
  return reachable(
    items.map(({ target }) => target).filter(target => target !== loop),
    id => (outgoing.get(id) ?? []).map(({ target }) => target).filter(target => target !== loop),
  )
}

/** Returns the ids and all ids that are reachable from them. */
export function reachable(ids: readonly string[], next: (id: string) => readonly string[]): Set<string> {
  const found = new Set(ids)
  for (const id of found) for (const following of next(id)) found.add(following)
  return found
}

/** Returns the definition with only the edges that lead to a node. */
export function upTo({ nodes, edges }: Definition, last: string): Definition {
  const needed = reachable([last], id => edges.filter(edge => edge.target === id).map(({ source }) => source))
  return { nodes, edges: edges.filter(({ source, target }) => source !== last && needed.has(target)) }
}

function edgeProblem({ id, source, target, sourceHandle }: Edge, { loopOf, nodes }: Graph) {
  if (nodes.get(target)?.type === 'trigger') return problem(target, `nothing may lead to the trigger: ${id}`)
  const [from, to] = [loopOf.get(source), loopOf.get(target)]
  const isItem = nodes.get(source)?.type === 'loop' && sourceHandle === 'item'
  const isAllowed = isItem ? to === source : from === to || from === target
  return isAllowed ? undefined : problem(source, `the edge ${id} leads into or out of the body of a loop`)
}

/** Sorts a body by its edges, and omits nodes in cycles or behind one. */
function inOrder(body: readonly Node[], incoming: Graph['incoming']): Node[] {
  const waiting = new Set(body.map(({ id }) => id))
  const ordered: Node[] = []
  for (let before = -1; before < ordered.length; ) {
    before = ordered.length
    for (const node of body) {
      const isWaiting = (incoming.get(node.id) ?? []).some(({ source }) => waiting.has(source))
      if (isWaiting || !waiting.delete(node.id)) continue
      ordered.push(node)
    }
  }
  return ordered
}

function levelsOf(id: string, loopOf: Graph['loopOf']): number {
  let levels = 0
  for (let loop = loopOf.get(id); loop !== undefined && levels <= maxLevels; loop = loopOf.get(loop))
    levels += 1
  return levels
}
