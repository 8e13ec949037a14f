import build from 'fast-json-stringify'
import type { TSchema } from 'typebox'
import { ofOwnSchemas } from '../../own-schemas.ts'

/** Returns a function that writes a value as JSON by its schema, without fields unknown to that. */
export function schemaWriter(schema: TSchema): (value: unknown) => string {
  return build(withoutOpenObjects(schema) as TSchema, { ajv: ofOwnSchemas })
}

/** Objects of any fields are written like any value: the library omits functions, such as exact numbers. */
function withoutOpenObjects(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutOpenObjects)
  if (typeof schema !== 'object' || schema === null || schema instanceof RegExp) return schema
  const { type, additionalProperties, patternProperties } = schema as Record<string, unknown>
  const fields = [additionalProperties, ...Object.values(Object(patternProperties))]
  if ([type].flat().includes('object') && fields.some(isAny)) return {}
  return Object.fromEntries(Object.entries(schema).map(([name, part]) => [name, withoutOpenObjects(part)]))
}

function isAny(schema: unknown): boolean {
  return schema === true || JSON.stringify(schema) === '{}'
}
