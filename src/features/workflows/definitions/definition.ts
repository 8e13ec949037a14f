import { AppError, invalid } from '#platform/errors.ts'
import { type Graph, type Problem, readGraph } from '../engine/graph.ts'
import { checkData } from '../nodes/check-data.ts'
import type { NodeTypes } from '../nodes/node-types.ts'
import type { Definition, Edge, Node } from '../workflows.schema.ts'

const maxShown = 100

export interface CheckedDefinition {
  graph: Graph
  /** Problems that prevent saving. */
  problems: Problem[]
  /** Missing fields that a draft may lack; an active workflow needs them. */
  missing: Problem[]
  /** Braces that are not templates. */
  templates: Problem[]
}

export function checkDefinition({ nodes, edges }: Definition, types: NodeTypes): CheckedDefinition {
  const ids = new Set(nodes.map(({ id }) => id))
  const joined = edges.filter(({ source, target }) => ids.has(source) && ids.has(target))
  const { graph, problems } = readGraph({ nodes, edges: joined })
  const found = nodes.map(node => checkData(node, types))
  const exits = joined.map(edge => exitProblem(edge, graph, types))
  return {
    graph,
    problems: [
      ...triggerProblems(nodes),
      ...repeated(nodes).map(id => ({ node: id, field: 'id', issue: 'is the id of several nodes' })),
      ...repeated(edges).map(id => ({ field: 'edges', issue: `${id} is the id of several edges` })),
      ...edges.flatMap(edge => endProblems(edge, ids)),
      ...found.flatMap(one => one.problems),
      ...exits.flatMap(one => (one?.isMissing === false ? one : [])),
      ...problems,
    ],
    missing: [...found.flatMap(one => one.missing), ...exits.flatMap(one => (one?.isMissing ? one : []))],
    templates: found.flatMap(one => one.templates),
  }
}

export function requireNode({ nodes }: Graph, id: string, field: string): void {
  if (!nodes.has(id)) throw invalid(field, `names the node ${id}, which is not there`)
}

/** @throws VALIDATION_ERROR that names all problems. */
export function requireNone(problems: readonly Problem[]): void {
  if (problems.length === 0) return
  const sentences = problems.map(({ node, field, issue }) =>
    [node === undefined ? '' : `node ${node}:`, field, issue].join(' ').trim(),
  )
  const [{ field, issue } = { field: '', issue: '' }] = problems
  throw new AppError('VALIDATION_ERROR', `${sentences.slice(0, maxShown).join('; ')}.`, {
    details: { field, issue, problems: problems.slice(0, maxShown) },
  })
}

function triggerProblems(nodes: readonly Node[]): Problem[] {
  const count = nodes.filter(({ type }) => type === 'trigger').length
  const issue = `must have exactly one node of type trigger, and have ${count}`
  return count === 1 ? [] : [{ field: 'nodes', issue }]
}

function repeated(entries: readonly { id: string }[]): string[] {
  return [...Map.groupBy(entries, ({ id }) => id)].flatMap(([id, same]) => (same.length > 1 ? [id] : []))
}

function endProblems({ id, source, target }: Edge, ids: ReadonlySet<string>): Problem[] {
  return [source, target]
    .filter(end => !ids.has(end))
    .map(end => ({ field: 'edges', issue: `${id} names the node ${end}, which is not there` }))
}

function exitProblem({ id, source, sourceHandle }: Edge, { nodes }: Graph, types: NodeTypes) {
  const node = nodes.get(source)
  const handles = node && types.get(node.type)?.handles?.(node.data as never)
  if (handles === undefined || sourceHandle === 'error' || handles.includes(sourceHandle ?? ''))
    return undefined
  const issue = `${id} must name its exit as sourceHandle, one of ${handles.join(', ')}`
  return { node: source, field: 'edges', issue, isMissing: (sourceHandle ?? null) === null }
}
