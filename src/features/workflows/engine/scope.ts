import type { TemplateScope } from '#platform/templates/resolve-templates.ts'
import type { Graph } from './graph.ts'
import type { Place, Results } from './plan.ts'
import { hasEnded, itemsOf, keyOf } from './plan.ts'

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
  const nodes: Record<string, unknown> = {}
  for (const id of graph.nodes.keys()) {
    const result = pathsFrom(path)
      .map(outer => results.get(keyOf(id, outer)))
      .find(found => found !== undefined && hasEnded(found))
    if (result === undefined) continue
    const get = () => JSON.parse(result.output ?? 'null')
    Object.defineProperty(nodes, id, { enumerable: true, configurable: true, get })
  }
  return { ...roots, nodes, loop: loopItem(graph.loopOf.get(node.id), path, results) }
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
