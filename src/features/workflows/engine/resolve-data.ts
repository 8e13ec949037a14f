import type { TSchema } from 'typebox'
import { invalid } from '#platform/errors.ts'
import { turn } from '#platform/event-loop/turns.ts'
import { problemOf } from '#platform/schema-check.ts'
import { mapEntries, type Templates } from '#platform/templates/resolve-templates.ts'
import { isLiteral, type NodeType } from './node-type.ts'

/**
 * Returns the data of a node with its templates resolved: to texts if the schema requires a text, else to any
 * type. Optional fields without a value are omitted.
 * @throws VALIDATION_ERROR for data that then does not match the schema.
 */
export async function resolveData(type: NodeType, data: object, templates: Templates) {
  const { schema, missing } = type
  const resolved = await resolveTemplates(type, data, templates)
  const problem = problemOf(schema, resolved) ?? missing?.(resolved as never)
  if (problem !== undefined) throw invalid(problem.field, problem.issue)
  return resolved
}

/** Resolves the templates of data that need not match the schema. */
export async function resolveTemplates(type: NodeType, data: object, templates: Templates) {
  const { schema } = type
  const entries = Object.entries(data)
  for (const entry of entries)
    if (!isLiteral(type, entry[0]))
      entry[1] = await resolveAs(schema.properties[entry[0]], entry[1], templates)
  const isGiven = ([key, value]: [string, unknown]) =>
    schema.required?.includes(key) || (value !== null && value !== '')
  return Object.fromEntries(entries.filter(isGiven))
}

async function resolveAs(
  schema: TSchema | undefined,
  value: unknown,
  templates: Templates,
): Promise<unknown> {
  const { type, items, properties }: SchemaParts = schema ?? {}
  if (typeof value === 'string')
    return type === 'string' ? await templates.fill(value) : await templates.resolve(value)
  await turn()
  const schemaOf = (name?: string) => (name === undefined ? items : properties?.[name])
  return await mapEntries(value, (entry, name) => resolveAs(schemaOf(name), entry, templates))
}

interface SchemaParts {
  type?: string
  items?: TSchema
  properties?: Record<string, TSchema>
}
