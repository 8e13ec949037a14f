import { describe, expect, it } from 'vitest'
import { isFullEndurance, seededRandom } from '#test/support/endurance.ts'
import type { Definition, Edge, Node } from '../workflows.schema.ts'
import { type Graph, reachable, readGraph } from './graph.ts'
import { keyOf, type NodeResult, type Outcome, type Place } from './plan.ts'
import { completion, failure, runSegment } from './run-segment.ts'

const graphs = isFullEndurance ? 10_000 : 300

type Random = () => number

/** A valid definition: nodes with joins, branches, edges for errors, and loops with bodies in loops. */
function generate(random: Random): Definition {
  const nodes: Node[] = []
  const edges: Edge[] = []
  const below = (limit: number) => Math.floor(random() * limit)
  const connect = (source: string, target: string, sourceHandle: string | undefined) =>
    edges.push({
      id: `e${edges.length}`,
      source,
      target,
      ...(sourceHandle !== undefined && { sourceHandle }),
    })
  const exitOf = ({ type }: Node) => {
    if (type === 'if-else') return random() < 0.5 ? 'true' : 'false'
    if (random() < 0.15) return 'error'
    return type === 'loop' ? 'done' : undefined
  }
  const add = (type: string) => {
    const node = { id: `n${nodes.length}`, type, position: { x: 0, y: 0 }, data: {} }
    nodes.push(node)
    return node
  }
  const typeIn = (levels: number) => {
    if (random() < 0.3) return 'if-else'
    return levels < 3 && random() < 0.25 ? 'loop' : 'plain'
  }
  function append(scope: Node[], loop: Node | undefined, levels: number): void {
    const node = add(typeIn(levels))
    const sources = new Set(Array.from({ length: 1 + below(2) }, () => scope[below(scope.length)]))
    for (const source of sources) if (source !== undefined) connect(source.id, node.id, exitOf(source))
    if (loop !== undefined && (scope.length === 0 || random() < 0.2)) connect(loop.id, node.id, 'item')
    scope.push(node)
    if (node.type === 'loop') fill([], node, levels + 1)
  }
  function fill(scope: Node[], loop: Node | undefined, levels: number): void {
    for (let count = 1 + below(5); count > 0; count -= 1) append(scope, loop, levels)
    const last = scope.at(-1)
    if (loop !== undefined && last !== undefined && random() < 0.5) connect(last.id, loop.id, exitOf(last))
  }
  fill([add('trigger')], undefined, 0)
  return { nodes, edges }
}

/** What a node does is decided by its place alone. */
function behaviourOf(seed: number, failures: number) {
  const numberFor = ({ node, path }: Place, purpose: string) => {
    let hash = seed
    for (const letter of `${node.id} ${path} ${purpose}`)
      hash = Math.imul(hash ^ letter.charCodeAt(0), 16777619)
    return seededRandom(hash)()
  }
  return (place: Place): Partial<NodeResult> => {
    const { type } = place.node
    if (type !== 'trigger' && numberFor(place, 'fails') < failures) return failure('X', 'failed')
    if (type === 'if-else') return completion('"branch"', numberFor(place, 'exit') < 0.5 ? 'true' : 'false')
    if (type !== 'loop') return completion('"done"')
    const items = Array.from({ length: Math.floor(numberFor(place, 'items') * 4) }, (_, index) => index)
    const concurrency = 1 + Math.floor(numberFor(place, 'concurrency') * 3)
    const output = JSON.stringify({ items, concurrency, stopsOnError: numberFor(place, 'stops') < 0.5 })
    return { status: 'looping', output }
  }
}

interface Run {
  outcome: Outcome
  /** How often each place ran. */
  runs: Map<string, number>
}

class Killed extends Error {}

/** Executes to the end, in a random order; `mayDie` kills the process while it records. */
async function execute(
  graph: Graph,
  behave: ReturnType<typeof behaviourOf>,
  random: Random,
  mayDie: () => boolean,
): Promise<Run> {
  const stored = new Map<string, NodeResult>()
  const runs = new Map<string, number>()
  const clock = { now: () => 0 }
  const waits = new Set<string>()
  const store = (result: NodeResult) => {
    const key = keyOf(result.node_id, result.path)
    expect(['complete', 'errored']).not.toContain(stored.get(key)?.status)
    stored.set(key, result)
  }
  for (;;) {
    try {
      const outcome = await runSegment({
        graph,
        results: new Map(stored),
        clock,
        signal: new AbortController().signal,
        readWaiting: async () => [],
        onlyComputes: ({ node }) => ['trigger', 'if-else', 'loop'].includes(node.type),
        async record(results) {
          for (const result of results) {
            store(result)
            const sources = (graph.incoming.get(result.node_id) ?? []).map(({ source }) => source)
            for (const source of result.status === 'running' ? sources : [])
              expect(['running', 'waiting', 'looping']).not.toContain(
                stored.get(keyOf(source, result.path))?.status,
              )
            // They may be stored in portions.
            if (mayDie()) throw new Killed()
          }
          return true
        },
        async runNode({ place, result }) {
          const key = keyOf(place.node.id, place.path)
          const ended = behave(place)
          if (random() < 0.1 && !waits.has(key) && waits.add(key))
            return { ...result, status: 'waiting', due_at: new Date(0).toISOString() }
          runs.set(key, (runs.get(key) ?? 0) + 1)
          for (let turns = random() * 6; turns > 0; turns -= 1) await null
          return { ...result, ...ended }
        },
      })
      if (!('waitsFor' in outcome)) {
        if (mayDie()) throw new Killed()
        for (const result of outcome.unrecorded) store(result)
        return { outcome, runs }
      }
    } catch (error) {
      if (!(error instanceof Killed)) throw error
    }
  }
}

/** The places that run, worked out from the definition alone; there must be no failures without an edge for them. */
function expectedRuns({ nodes, edges }: Definition, graph: Graph, behave: ReturnType<typeof behaviourOf>) {
  const expected = new Set<string>()
  function runs(node: Node, path: string, loop: string | undefined): boolean {
    if (node.type === 'trigger') return true
    return edges
      .filter(({ source, target }) => target === node.id && graph.loopOf.get(source) !== node.id)
      .some(edge => {
        if (edge.source === loop) return true
        const source = graph.nodes.get(edge.source)
        if (source === undefined || !runs(source, path, loop)) return false
        const { status, handle } = { handle: null, ...behave({ node: source, path }) }
        const exit = edge.sourceHandle ?? null
        if (status === 'errored') return exit === 'error'
        return status === 'looping' ? exit === 'done' : handle === null ? exit !== 'error' : exit === handle
      })
  }
  function add(loop: string | undefined, path: string): void {
    for (const node of nodes.filter(({ id }) => graph.loopOf.get(id) === loop)) {
      if (!runs(node, path, loop)) continue
      expected.add(keyOf(node.id, path))
      const { status, output } = behave({ node, path })
      if (status !== 'looping') continue
      const { items } = JSON.parse(output ?? '') as { items: number[] }
      for (const item of items) add(node.id, path === '' ? `${item}` : `${path}.${item}`)
    }
  }
  add(undefined, '')
  return expected
}

/** Nodes that fail at the same time may be named in either order. */
function withoutNames(outcome: Outcome): unknown {
  if ('failed' in outcome) return 'failed'
  return JSON.parse(outcome.output, (name, value) => (name === 'node_id' || name === 'message' ? 'x' : value))
}

describe('generated graphs', () => {
  it(`run each place once, and the places that the edges lead to (${graphs})`, async () => {
    for (let seed = 1; seed <= graphs; seed += 1) {
      const random = seededRandom(seed)
      const definition = generate(random)
      const { graph, problems } = readGraph(definition)
      expect(problems, `seed ${seed}`).toEqual([])
      const behave = behaviourOf(seed, 0)
      const { runs, outcome } = await execute(graph, behave, random, () => false)
      expect(new Set(runs.keys()), `seed ${seed}`).toEqual(expectedRuns(definition, graph, behave))
      expect(Math.max(...runs.values()), `seed ${seed}`).toBe(1)
      expect(outcome).toHaveProperty('output')
    }
  })

  it(`end after any interruptions as they do without (${graphs})`, async () => {
    for (let seed = 1; seed <= graphs; seed += 1) {
      const random = seededRandom(seed)
      const { graph } = readGraph(generate(random))
      const behave = behaviourOf(seed, 0.08)
      const calm = await execute(graph, behave, random, () => false)
      const interrupted = await execute(graph, behave, random, () => random() < 0.3)
      expect(withoutNames(interrupted.outcome), `seed ${seed}`).toEqual(withoutNames(calm.outcome))
    }
  })

  it('are refused with an edge that closes a cycle, or leads into a body', () => {
    let refused = 0
    for (let seed = 1; seed <= graphs; seed += 1) {
      const random = seededRandom(seed)
      const definition = generate(random)
      const { graph } = readGraph(definition)
      const pick = () => definition.nodes[Math.floor(random() * definition.nodes.length)]?.id ?? ''
      const [source, target] = [pick(), pick()]
      const leadsBack = reaches(graph, target, source) && graph.loopOf.get(source) !== target
      const entersBody =
        graph.loopOf.get(source) !== graph.loopOf.get(target) && graph.loopOf.get(source) !== target
      if (!leadsBack && !entersBody) continue
      refused += 1
      const edges = [...definition.edges, { id: 'added', source, target }]
      expect(readGraph({ ...definition, edges }).problems, `seed ${seed}`).not.toEqual([])
    }
    expect(refused).toBeGreaterThan(graphs / 10)
  })
})

/** Within one pass: not by coming back to a loop. */
function reaches({ incoming }: Graph, from: string, to: string): boolean {
  const sources = (id: string) => (incoming.get(id) ?? []).map(({ source }) => source)
  return reachable([to], sources).has(from)
}
