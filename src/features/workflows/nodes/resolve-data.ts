import type { TSchema } from 'typebox'
import { invalid } from '#platform/errors.ts'
import { problemOf } from '#platform/schema-check.ts'
import type { Templates } from '#platform/templates/resolve-templates.ts'
import type { NodeType } from './node-type.ts'
import { isLiteral } from './node-type.ts'

/**
 * The data of a node with values in the place of its templates: texts where its schema wants a text, else of any type. What
 * is optional and came to nothing is left out.
 * @throws VALIDATION_ERROR for what does not match the schema now.
 */
export function resolveData(type: NodeType, data: object, templates: Templates) {
  const { schema, missing } = type
  const entries = Object.entries(data).map(([key, value]) => {
    return [key, isLiteral(type, key) ? value : resolveAs(schema.properties[key], value, templates)] as const
  })
  const isGiven = ([key, value]: (typeof entries)[number]) =>
    schema.required?.includes(key) || (value !== null && value !== '')
  const resolved = Object.fromEntries(entries.filter(isGiven))
  const problem = problemOf(schema, resolved) ?? missing?.(resolved as never)
  if (problem !== undefined) throw invalid(problem.field, problem.issue)
  return resolved
}

function resolveAs(schema: TSchema | undefined, value: unknown, templates: Templates): unknown {
  const { type, items, properties }: SchemaParts = schema ?? {}
  if (typeof value === 'string') return type === 'string' ? templates.fill(value) : templates.resolve(value)
  if (Array.isArray(value)) return value.map(entry => resolveAs(items, entry, templates))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
  return Object.fromEntries(
    entries.map(([name, inner]) => [name, resolveAs(properties?.[name], inner, templates)]),
  )
}

interface SchemaParts {
  type?: string
  items?: TSchema
  properties?: Record<string, TSchema>
}
