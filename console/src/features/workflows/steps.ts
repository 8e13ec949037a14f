import type { Definition } from './requests.ts'

/** A node of a workflow with its place among the others. */
export interface Step {
  id: string
  type: string
  data: Readonly<Record<string, unknown>>
  /** Possible successors, each with its exit. */
  follows: readonly { target: string; exit?: string }[]
  /** The number of loops around it. */
  depth: number
}

/** Exits that are sorted before and after the others. */
const first = ['true', 'item', 'approved']
const last = ['timeout', 'default', 'error']
const rankOf = (exit = '') => (first.includes(exit) ? 0 : last.includes(exit) ? 2 : 1)

/** Returns the steps in order: branch by branch, loop bodies before later steps, unreached steps last. */
export function stepsOf({ nodes, edges }: Definition): Step[] {
  const known = new Map(nodes.map(node => [node.id, node]))
  const joined = edges.filter(({ source, target }) => known.has(source) && known.has(target))
  const leaving = Map.groupBy(joined, ({ source }) => source)
  const followsOf = (id: string) =>
    (leaving.get(id) ?? [])
      .map(({ target, sourceHandle }) => ({ target, ...(sourceHandle != null && { exit: sourceHandle }) }))
      .toSorted((one, other) => rankOf(one.exit) - rankOf(other.exit))
  const targetsOf = (id: string) => followsOf(id).map(({ target }) => target)
  const seen = new Set<string>()
  const triggers = nodes.filter(({ type }) => type === 'trigger')
  const ordered = [...triggers, ...nodes].flatMap(({ id }) => inOrder(id, targetsOf, seen))
  const bodies = nodes
    .filter(({ type }) => type === 'loop')
    .map(({ id }) => {
      const body = new Set([id])
      const starts = followsOf(id).filter(({ exit }) => exit === 'item')
      for (const { target } of starts) inOrder(target, targetsOf, body)
      body.delete(id)
      return body
    })
  return ordered.flatMap(id => {
    const node = known.get(id)
    if (node === undefined) return []
    const depth = bodies.filter(body => body.has(id)).length
    return { id, type: node.type, data: node.data, follows: followsOf(id), depth }
  })
}

/** Returns the unseen nodes reachable from a node, each before its successors, except for loops back. */
function inOrder(from: string, targetsOf: (id: string) => string[], seen: Set<string>): string[] {
  const ordered: string[] = []
  const visit = (id: string) => {
    if (seen.has(id)) return
    seen.add(id)
    for (const target of targetsOf(id).toReversed()) visit(target)
    ordered.push(id)
  }
  visit(from)
  return ordered.toReversed()
}

/** Fields that best describe a node in a few words, clearest first. */
const telling = [
  'approval',
  'url',
  'message',
  'text',
  'subject',
  'selector',
  'items',
  'value',
  'until',
  'event',
  'code',
]
const maxSummary = 200

/** Describes a step in one line of its own words; empty if its type is enough. */
export function summaryOf({ data }: Pick<Step, 'data'>): string {
  const { seconds, conditions, method } = data
  if (seconds !== undefined) return `${JSON.stringify(seconds)} s`
  if (Array.isArray(conditions)) return cut(conditions.map(conditionOf).join(', '))
  const name = telling.find(one => data[one] !== undefined)
  if (name === undefined) return ''
  const text = typeof data[name] === 'string' ? data[name] : JSON.stringify(data[name])
  return cut(typeof method === 'string' ? `${method} ${text}` : text)
}

function conditionOf(condition: { left?: unknown; operator?: unknown; right?: unknown } | null): string {
  const { left, operator, right } = condition ?? {}
  const words = [left, operator, right].filter(one => one !== undefined)
  return words.map(one => (typeof one === 'string' ? one : JSON.stringify(one))).join(' ')
}

export const cut = (text: string, length = maxSummary) =>
  text.length > length ? `${text.slice(0, length).toWellFormed()}…` : text

/** First segments of paths that don't point into the input. */
const provided = new Set(['nodes', 'loop', 'execution', 'workflow', 'trigger', 'agent', 'now'])
const template = /\{\{\s*([a-z]\w*(?:\.[a-z]\w*)*)/gi

/** Returns an input with empty values for the fields in a workflow's templates. */
export function exampleInput({ nodes }: Definition): Record<string, unknown> {
  const input: Record<string, unknown> = {}
  for (const [, found = ''] of JSON.stringify(nodes.map(({ data }) => data)).matchAll(template)) {
    const names = found.split('.')
    if (provided.has(names[0] ?? '')) continue
    let part = input
    for (const [at, name] of names.entries()) {
      const before = Object.hasOwn(part, name) ? part[name] : ''
      const isLeaf = at === names.length - 1
      const value = typeof before === 'object' ? before : isLeaf ? '' : {}
      part[name] = value
      part = value as Record<string, unknown>
    }
  }
  return input
}
