import type { TemplateScope } from '#platform/templates/resolve-templates.ts'
import { hasEnded } from '../execution-status.ts'
import type { Graph } from './graph.ts'
import type { NodeResult, Place, Results } from './plan.ts'
import { itemsOf, keyOf } from './plan.ts'

/** What the templates of a node can read. */
export interface Scope extends TemplateScope {
  /** Outputs, by the id of their node. */
  nodes: Record<string, unknown>
  loop: { item: unknown; index: number } | null
}

/** Outputs are those of the same items, where there are any, and are parsed when they are read. */
export function scopeOf(
  { node, path }: Place,
  graph: Graph,
  results: Results,
  roots: Record<string, unknown> & { input: unknown },
): Scope {
  let nodes: Scope['nodes'] | undefined
  return {
    ...roots,
    get nodes() {
      nodes ??= outputsAt(path, graph, results)
      return nodes
    },
    loop: loopItem(graph.loopOf.get(node.id), path, results),
  }
}

function outputsAt(path: string, graph: Graph, results: Results): Scope['nodes'] {
  const nodes: Scope['nodes'] = {}
  const paths = pathsFrom(path)
  for (const id of graph.nodes.keys()) {
    const result = paths
      .map(outer => results.get(keyOf(id, outer)))
      .find(found => found !== undefined && hasEnded(found))
    if (result === undefined) continue
    const get = () => outputOf(result)
    Object.defineProperty(nodes, id, { enumerable: true, configurable: true, get })
  }
  return nodes
}

const outputs = new WeakMap<NodeResult, unknown>()

/** Parsed once: the items of a loop may all read a long output before it. */
function outputOf(result: NodeResult): unknown {
  const output = outputs.has(result) ? outputs.get(result) : JSON.parse(result.output ?? 'null')
  outputs.set(result, output)
  return output
}

/** `2.0`, `2` and the empty path. */
function pathsFrom(path: string): string[] {
  const parts = path === '' ? [] : path.split('.')
  return [...parts.map((_, index) => parts.slice(0, parts.length - index).join('.')), '']
}

function loopItem(loop: string | undefined, path: string, results: Results): Scope['loop'] {
  const [outer = ''] = pathsFrom(path).slice(1)
  const result = loop === undefined ? undefined : results.get(keyOf(loop, outer))
  if (result === undefined) return null
  const index = Number(path.split('.').at(-1))
  return { item: itemsOf(result).items[index] ?? null, index }
}
