/** Which rows of the specification a test file names, found in its source without running it. */
import { parseAst } from 'vitest/node'
import { markerTexts } from './row.ts'

const testCalls = new Set(['describe', 'it', 'test'])

/** A test that may not run proves nothing. */
const skippingCalls = new Set(['skip', 'skipIf', 'runIf', 'todo'])

interface SyntaxNode {
  type: string
  [key: string]: unknown
}

/**
 * The markers in the titles of the tests and suites of a TypeScript source. Only calls with literal arguments count,
 * and nothing in a comment, outside a title, or in what is skipped, be it on a condition.
 */
export function namedMarkers(source: string): Set<string> {
  const found = new Set<string>()
  visit(parseAst(source, { lang: 'ts', sourceType: 'module' }), false, found)
  return found
}

function visit(value: unknown, inTitle: boolean, found: Set<string>): void {
  if (Array.isArray(value)) {
    for (const element of value) visit(element, inTitle, found)
    return
  }
  if (!isNode(value)) return
  const [name = '', ...modifiers] = value.type === 'CallExpression' ? callPath(value.callee) : []
  const [first, ...others] = Array.isArray(value.arguments) ? value.arguments : []
  if (testCalls.has(name)) {
    if (modifiers.some(modifier => skippingCalls.has(modifier))) return
    visit(first, true, found)
    visit(others, false, found)
    return
  }
  if (inTitle) {
    const marker = markerOf(name, [first, ...others])
    if (marker !== undefined) found.add(marker)
  }
  for (const child of Object.values(value)) visit(child, inTitle, found)
}

/** `it.concurrent.each(table)` is `['it', 'concurrent', 'each']`. */
function callPath(callee: unknown): string[] {
  if (!isNode(callee)) return []
  switch (callee.type) {
    case 'Identifier':
      return [String(callee.name)]
    case 'MemberExpression':
      return [...callPath(callee.object), ...callPath(callee.property)]
    case 'CallExpression':
      return callPath(callee.callee)
    case 'TaggedTemplateExpression':
      return callPath(callee.tag)
    default:
      return []
  }
}

function markerOf(name: string, values: readonly unknown[]): string | undefined {
  const [first, second] = values.map(value =>
    isNode(value) && value.type === 'Literal' ? String(value.value) : undefined,
  )
  if (first === undefined) return undefined
  if (name === 'errorRow') return second === undefined ? undefined : markerTexts.errorRow(first, second)
  if (name === 'row' || name === 'limitRow' || name === 'streamEvent') return markerTexts[name](first)
  return undefined
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}
