import { invalid } from '#platform/errors.ts'
import { parseJson } from '#platform/exact-json.ts'
import { aliasInCamelCase, hasAliases, type TemplateScope } from '#platform/templates/resolve-templates.ts'
import { hasEnded } from '../execution-status.ts'
import type { Graph } from './graph.ts'
import { itemsOf, joined, keyOf, type NodeResult, type Place, type Results } from './plan.ts'

/** The values that the templates of a node can read. */
export interface Scope extends TemplateScope {
  /** Outputs by node id. */
  nodes: Record<string, unknown>
  loop: { item: unknown; index: number } | null
}

/**
 * Outputs come from the same loop items, if there are any, and are parsed when they are read. A node reads
 * the outputs of the nodes that had ended before it began, at all attempts.
 */
export function scopeOf(
  { node, path }: Place,
  graph: Graph,
  results: Results,
  roots: Record<string, unknown> & { input: object },
  loop = loopItem({ node, path }, graph, results),
): Scope {
  let nodes: Scope['nodes'] | undefined
  return {
    ...roots,
    get nodes() {
      const isPayload = (id: string) => hasAliases(roots.input) && graph.nodes.get(id)?.type === 'trigger'
      nodes ??= outputsOf(resultsAt({ node, path }, graph, results), isPayload)
      return nodes
    },
    loop,
  }
}

/** Returns the results that nodes can read at a path, by node id. */
function resultsAt({ node, path }: Place, graph: Graph, results: Results): Map<string, NodeResult> {
  const paths = pathsFrom(path)
  const began = results.get(keyOf(node.id, path))?.began ?? Number.POSITIVE_INFINITY
  const isReadable = (result: NodeResult) => hasEnded(result) && (result.ended ?? 0) < began
  const found = [...graph.nodes.keys()].flatMap(id => {
    const result = paths.map(outer => results.get(keyOf(id, outer))).find(one => one && isReadable(one))
    return result === undefined ? [] : [[id, result] as const]
  })
  return new Map(found)
}

/** Max characters of all outputs together, for templates that name no node. */
const maxTogether = 1024 * 1024
const jsonOf = new WeakMap<Scope['nodes'], string>()

function outputsOf(
  results: ReadonlyMap<string, NodeResult>,
  isPayload: (id: string) => boolean,
): Scope['nodes'] {
  const nodes: Scope['nodes'] = {}
  for (const [id, result] of results) {
    const get = () => (isPayload(id) ? aliasInCamelCase(outputOf(result)) : outputOf(result))
    Object.defineProperty(nodes, id, { enumerable: true, configurable: true, get })
  }
  // Texts are appended, which copies nothing.
  const json = joined([...results].map(([id, { output }]) => `${JSON.stringify(id)}:${output ?? 'null'}`))
  jsonOf.set(nodes, `{${json}}`)
  const toJSON = () => {
    if (json.length <= maxTogether) return { ...nodes }
    throw invalid('{{nodes}}', `is too long, with ${json.length} characters: name the node that is meant`)
  }
  return Object.defineProperty(nodes, 'toJSON', { enumerable: false, configurable: true, value: toJSON })
}

/** Returns the outputs that a node can read as one JSON text, which can be long. */
export function outputsJson({ nodes }: Scope): string {
  return jsonOf.get(nodes) ?? '{}'
}

const outputs = new WeakMap<NodeResult, unknown>()

/** Outputs are parsed once: all items of a loop can read a long output. */
function outputOf(result: NodeResult): unknown {
  const output = outputs.has(result) ? outputs.get(result) : parseJson(result.output ?? 'null')
  outputs.set(result, output)
  return output
}

/** Returns `2.0`, `2` and the empty path for `2.0`. */
export function pathsFrom(path: string): string[] {
  const parts = path === '' ? [] : path.split('.')
  return [...parts.map((_, index) => parts.slice(0, parts.length - index).join('.')), '']
}

function loopItem({ node, path }: Place, graph: Graph, results: Results): Scope['loop'] {
  const loop = graph.loopOf.get(node.id)
  const [outer = ''] = pathsFrom(path).slice(1)
  const result = loop === undefined ? undefined : results.get(keyOf(loop, outer))
  if (result === undefined) return null
  const index = Number(path.split('.').at(-1))
  return { item: itemsOf(result).items[index] ?? null, index }
}
