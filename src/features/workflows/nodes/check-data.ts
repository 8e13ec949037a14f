import { problemsOf } from '#platform/schema-check.ts'
import { templateProblem } from '#platform/templates/resolve-templates.ts'
import type { Problem } from '../engine/graph.ts'
import { type DataProblem, isLiteral } from '../engine/node-type.ts'
import type { Node } from '../workflows.schema.ts'
import type { NodeTypes } from './node-types.ts'

interface Checked {
  /** Problems that prevent saving. */
  problems: Problem[]
  /** Missing fields that a draft may lack; an active workflow needs them. */
  missing: Problem[]
  /** Braces in texts that are not templates; in data that was stored before, they are kept. */
  templates: Problem[]
}

export function checkData({ id, type, data }: Node, types: NodeTypes): Checked {
  const known = types.get(type)
  if (known === undefined) {
    const issue = `must be one of ${[...types.keys()].join(', ')}`
    return { problems: [{ node: id, field: 'type', issue }], missing: [], templates: [] }
  }
  const input = withoutEmpty(data)
  const found = problemsOf(known.schema, input)
  const wrong = found.filter(({ isMissing, value, field }) => {
    const isResolved = isTemplate(value) && !isLiteral(known, field.split('.')[0] ?? '')
    return !isMissing && !isResolved
  })
  const missing = found.filter(({ isMissing }) => isMissing)
  const isWhole = wrong.length + missing.length === 0
  const other = (kind: 'problem' | 'missing') => (isWhole ? [known[kind]?.(input as never) ?? []].flat() : [])
  const named = ({ field, issue }: DataProblem) => ({ node: id, field: `data.${field}`, issue })
  return {
    problems: [...wrong, ...other('problem')].map(named),
    missing: [...missing, ...other('missing')].map(named),
    templates: templateProblems(data, known.verbatim).map(named),
  }
}

/** Removes empty fields of a form, which count as missing. */
function withoutEmpty(data: Node['data']): Node['data'] {
  return Object.fromEntries(Object.entries(data).filter(([, value]) => value !== ''))
}

/** A template can become a value of any type, which is checked when the node runs. */
function isTemplate(value: unknown): boolean {
  return typeof value === 'string' && value.includes('{{')
}

function templateProblems(data: Node['data'], verbatim: readonly string[] = []): DataProblem[] {
  return Object.entries(data).flatMap(([key, value]) =>
    verbatim.includes(key) ? [] : textProblems(value, key),
  )
}

function textProblems(value: unknown, field: string): DataProblem[] {
  if (typeof value === 'string') {
    const issue = templateProblem(value)
    return issue === undefined ? [] : [{ field, issue }]
  }
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, entry]) => [
    ...(name.includes('{{')
      ? [{ field, issue: `has the name ${name}, in which templates are not read` }]
      : []),
    ...textProblems(entry, `${field}.${name}`),
  ])
}
