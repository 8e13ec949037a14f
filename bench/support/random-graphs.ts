/** Graphs of workflows that look random and are the same in every run, with inputs near to the limits. */
import type { Random } from '#test/support/random.ts'
import { edgesOf, nodesOf } from '#test/support/workflows.ts'

type Nodes = Parameters<typeof nodesOf>[0]

const operators = [
  'eq',
  'ne',
  'gt',
  'lte',
  'contains',
  'not_contains',
  'starts_with',
  'ends_with',
  'in',
  'not_empty',
]
const paths = ['text', 'part', 'words', 'objects', 'gone.name', 'nodes.start.text', 'loop.item', 'input']
const maxDepth = 3
/** Runs of nodes that a graph is aimed at, below the limit of results. */
const maxRuns = 500

export function randomGraph(random: Random) {
  const nodes: Nodes = { start: { type: 'trigger' } }
  const edges: string[] = []
  const below = (limit: number) => Math.floor(random.next() * limit)
  const template = () => `{{${random.pick(paths)}}}`
  const value = () => random.pick([template(), template(), `${template()} ${template()}`, 'x', below(100)])
  const condition = () => ({ left: value(), operator: random.pick(operators), right: value() })

  function append(from: string, depth: number, runs: number): void {
    let exit = from
    for (let count = 1 + below(4); count > 0; count -= 1) {
      const id = `n${Object.keys(nodes).length}`
      edges.push(`${exit} > ${id}`)
      const items = 1 + below(Math.min(1_000, maxRuns / runs))
      if (depth < maxDepth && items > 1 && random.next() < 0.4) {
        const list = Array.from({ length: items }, (_, index) => index)
        nodes[id] = { type: 'loop', items: list, concurrency: 1 + below(20), on_item_error: 'continue' }
        append(`${id}/item`, depth + 1, runs * items * 4)
        exit = `${id}/done`
      } else if (random.next() < 0.3) {
        nodes[id] = {
          type: 'switch',
          value: value(),
          cases: [{ handle: 'x', operator: random.pick(operators), value: value() }],
        }
        edges.push(`${id}/x > ${id}x`)
        nodes[`${id}x`] = { type: 'if-else', conditions: [condition()] }
        exit = `${id}/default`
      } else {
        nodes[id] = { type: 'if-else', conditions: Array.from({ length: 1 + below(5) }, condition) }
        exit = `${id}/${random.pick(['true', 'false'])}`
      }
    }
  }
  append('start', 0, 1)
  const length = below(random.pick([100, 1_000, 10_000, 400_000]))
  const input = {
    text: 'a'.repeat(length),
    part: `${'a'.repeat(below(200))}b${'a'.repeat(Math.floor(length / 3))}`,
    words: Array.from({ length: below(2_000) }, (_, index) => `word ${index}`),
    objects: Array.from({ length: below(1_000) }, (_, index) => ({ id: index, tags: ['a', 'b'] })),
  }
  const workflow = { name: 'W', status: 'active', nodes: nodesOf(nodes), edges: edgesOf(...edges) }
  return { workflow, input }
}
