/** `allOf`, `anyOf` and nullability, in the form that most validators and model services understand. */
import { isDeepStrictEqual } from 'node:util'
import { isEmptySchema, type JsonSchema } from './json-schema.ts'

const annotations = new Set(['description', 'default'])
const objectKeywords = new Set(['type', 'properties', 'required', 'description', 'additionalProperties'])

/** Converts `allOf`: objects are merged into one; a single part absorbs the keywords beside it. */
export function allOf(own: JsonSchema, members: readonly JsonSchema[]): JsonSchema {
  const parts = members.map(openEnded).filter(part => !isEmptySchema(part))
  const [only, ...further] = parts
  if (only === undefined) return own
  if (further.length === 0 && Object.keys(own).every(name => annotations.has(name)))
    return { ...only, ...own }
  const all = [own, ...parts].filter(part => !isEmptySchema(part))
  if (all.every(isMergeable)) return mergeObjects(all)
  return { ...openEnded(own), allOf: parts }
}

/** A part that forbids additional properties would also forbid those of the other parts, which no document means. */
function openEnded(schema: JsonSchema): JsonSchema {
  if (schema.additionalProperties !== false) return schema
  const { additionalProperties: _, ...rest } = schema
  return rest
}

function isMergeable(schema: JsonSchema): boolean {
  const isObject = schema.type === 'object' || Object.keys(schema).every(name => annotations.has(name))
  return isObject && Object.keys(schema).every(name => objectKeywords.has(name))
}

function mergeObjects(parts: readonly JsonSchema[]): JsonSchema {
  const properties = new Map<string, JsonSchema>()
  for (const part of parts) {
    for (const [name, schema] of Object.entries(part.properties ?? {})) {
      const known = properties.get(name)
      properties.set(name, known === undefined ? schema : both(known, schema))
    }
  }
  const required = [...new Set(parts.flatMap(part => part.required ?? []))]
  const description = parts.find(part => part.description !== undefined)?.description
  return {
    type: 'object',
    ...(description === undefined ? {} : { description }),
    ...(properties.size === 0 ? {} : { properties: Object.fromEntries(properties) }),
    ...(required.length === 0 ? {} : { required }),
  }
}

function both(one: JsonSchema, other: JsonSchema): JsonSchema {
  const isWords = (schema: JsonSchema) => Object.keys(schema).every(name => annotations.has(name))
  if (isWords(one) || isWords(other) || isDeepStrictEqual(one, other)) return { ...one, ...other }
  return { allOf: [one, other] }
}

export function orNull(schema: JsonSchema): JsonSchema {
  if (schema.allOf !== undefined || (schema.type === undefined && schema.const !== undefined)) {
    return { anyOf: [schema, { type: 'null' }] }
  }
  const nullable: JsonSchema = { ...schema }
  if (schema.type !== undefined) nullable.type = [...new Set([schema.type, 'null'].flat())]
  if (schema.enum !== undefined) nullable.enum = [...new Set([...schema.enum, null])]
  if (schema.const !== undefined) {
    nullable.enum = [schema.const, null]
    delete nullable.const
  }
  if (schema.anyOf !== undefined) nullable.anyOf = [...schema.anyOf, { type: 'null' }]
  return nullable
}
