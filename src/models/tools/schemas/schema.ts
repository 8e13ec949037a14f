/** Foreign JSON Schemas: plain data that need not follow the standard. */
import { valueAt } from '#platform/json-pointer.ts'

export type Schema = Record<string, unknown>

export function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Keywords whose value maps names, which are not keywords, to schemas. */
const maps = new Set(['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions'])
/** Keywords whose value is a schema or a list of them. */
const parts = new Set([
  ...['items', 'prefixItems', 'additionalItems', 'unevaluatedItems', 'contains', 'additionalProperties'],
  ...['unevaluatedProperties', 'propertyNames', 'anyOf', 'oneOf', 'allOf', 'not', 'if', 'then', 'else'],
])

const maxDepth = 24

/** Changes the schemas directly within a schema. */
function mapInner(schema: Schema, change: (inner: Schema) => Schema): Schema {
  const one = (value: unknown) => (isSchema(value) ? change(value) : value)
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      if (parts.has(keyword)) return [keyword, Array.isArray(value) ? value.map(one) : one(value)]
      return [keyword, maps.has(keyword) && isSchema(value) ? mapValues(value, one) : value]
    }),
  )
}

export function mapValues(record: Schema, change: (value: unknown, name: string) => unknown): Schema {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value, name)]))
}

/** Changes every schema within a schema, then the schema itself; too deeply nested ones become `{}`. */
export function mapSchemas(schema: Schema, change: (schema: Schema) => Schema, levels = maxDepth): Schema {
  return levels < 0 ? {} : change(mapInner(schema, inner => mapSchemas(inner, change, levels - 1)))
}

/** Max schemas: references can fan out, so further ones become `{}`. */
const maxSchemas = 3000

/** Returns the schema with targets for references. A circular or missing one leaves at most its type. */
export function withoutReferences(whole: Schema): Schema {
  let room = maxSchemas
  const resolved = (schema: Schema, open: readonly string[], levels: number): Schema => {
    room -= 1
    if (room < 0 || levels < 0) return {}
    const { $ref, $defs: _, definitions: __, ...own } = schema
    if (typeof $ref !== 'string') return mapInner(own, inner => resolved(inner, open, levels - 1))
    const target = $ref.startsWith('#') ? valueAt(whole, $ref.slice(1)) : undefined
    if (!isSchema(target)) return resolved(own, open, levels)
    if (!open.includes($ref)) return resolved({ ...target, ...own }, [...open, $ref], levels - 1)
    const { type } = target
    return resolved({ ...(typeof type === 'string' ? { type } : {}), ...own }, open, levels)
  }
  return resolved(whole, [], maxDepth)
}

/** Returns the number of values within a value, including itself, counted up to `max`. */
export function sizeOf(value: unknown, max: number): number {
  const waiting = [value]
  let size = 0
  while (waiting.length > 0 && size < max) {
    const next = waiting.pop()
    size += 1
    if (typeof next === 'object' && next !== null)
      for (const inner of Object.values(next).slice(0, max)) waiting.push(inner)
  }
  return size
}
