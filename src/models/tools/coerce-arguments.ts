import { isExactNumber, parseJson } from '#platform/exact-json.ts'
import { isDeeperThan, maxLevels } from '#platform/json-depth.ts'
import { hasMoreValuesThan, maxValues } from '#platform/json-values.ts'
import type { Schema } from './schemas/schema.ts'
import { isSchema, sizeOf, withoutReferences } from './schemas/schema.ts'
import { tidied } from './schemas/tidy-schema.ts'

export interface Coerced {
  input: Record<string, unknown>
  /** One clause for each change, without the values, which may be secret. */
  coerced: string[]
}

/** More changes are not described one by one. */
const maxDescribed = 20
/** Maximum number of pairs of schemas and values: what is larger is not coerced. */
const maxPairs = 50_000

/**
 * Reads arguments as the schema demands, where it leaves one reading only: a number or a truth value written as text, a
 * number where there has to be a text, JSON within a text, null for an optional member. What fits is not changed.
 */
export function coerceArguments(parameters: Schema, given: Record<string, unknown>): Coerced {
  const changes: string[] = []
  const schema = withoutReferences(tidied(parameters))
  if (sizeOf(schema, maxPairs) * sizeOf(given, maxPairs) > maxPairs) return { input: given, coerced: [] }
  const input = coerceObject(schema, given, { path: '', note: change => changes.push(change) })
  const more = changes.length - maxDescribed
  return {
    input,
    coerced: more > 0 ? [...changes.slice(0, maxDescribed), `${more} more`] : changes,
  }
}

interface Place {
  path: string
  note(change: string): void
}

function coerce(schema: unknown, value: unknown, place: Place): unknown {
  if (!isSchema(schema)) return value
  const types = typesIn(schema)
  if (types !== undefined && !types.some(type => isOf(type, value))) {
    const readings = readingsOf(value, types)
    const [only] = readings
    if (only === undefined || readings.length > 1) return value
    place.note(`${place.path} (${nameOf(value)}) was read as ${nameOf(only.value)}`)
    return coerceInner(schema, only.value, place)
  }
  return coerceInner(schema, value, place)
}

function coerceInner(schema: Schema, value: unknown, place: Place): unknown {
  if (Array.isArray(value)) {
    const items = alternativesFor(schema, value).map(one => one.items)
    return items.length === 1
      ? value.map((item, index) => coerce(items[0], item, below(place, String(index))))
      : value
  }
  return isSchema(value) ? coerceObject(schema, value, place) : value
}

function coerceObject(schema: Schema, value: Record<string, unknown>, place: Place): Record<string, unknown> {
  const [only, ...others] = alternativesFor(schema, value)
  if (only === undefined || others.length > 0) return value
  const { properties, required, additionalProperties } = only
  const entries = Object.entries(value).flatMap(([name, member]) => {
    const inner =
      isSchema(properties) && Object.hasOwn(properties, name) ? properties[name] : additionalProperties
    const at = below(place, name)
    const isRequired = Array.isArray(required) && required.includes(name)
    if (member === null && !isRequired && isSchema(inner) && typesIn(inner)?.includes('null') === false) {
      at.note(`${at.path} (null) was left out`)
      return []
    }
    return [[name, coerce(inner, member, at)] as const]
  })
  return Object.fromEntries(entries)
}

function below({ path, note }: Place, name: string): Place {
  return { path: path === '' ? name : `${path}.${name}`, note }
}

/** The alternatives that a value may be of by its type and its fixed members, each with what holds beside it. */
function alternativesFor(schema: Schema, value: object): Schema[] {
  const { anyOf, oneOf, allOf, ...own } = schema
  const parts = Array.isArray(allOf) ? allOf.filter(isSchema) : []
  const firm = joined([own, ...parts])
  const choices = [anyOf, oneOf].find(Array.isArray)?.filter(isSchema)
  if (choices === undefined) return [firm]
  return choices
    .filter(choice => typesIn(choice)?.some(type => isOf(type, value)) ?? true)
    .flatMap(choice => alternativesFor(joined([firm, choice]), value))
    .filter(choice => hasFixedMembers(choice, value))
}

/** Schemas that hold together. */
function joined(schemas: readonly Schema[]): Schema {
  const required = schemas.flatMap(schema => (Array.isArray(schema.required) ? schema.required : []))
  const properties = Object.assign({}, ...schemas.map(schema => schema.properties))
  return { ...Object.assign({}, ...schemas), properties, required }
}

function hasFixedMembers({ properties }: Schema, value: object): boolean {
  return Object.entries(isSchema(properties) ? properties : {}).every(([name, schema]) => {
    const fixed = isSchema(schema) ? valuesOf(schema) : undefined
    return fixed === undefined || !Object.hasOwn(value, name) || fixed.includes(Reflect.get(value, name))
  })
}

function valuesOf(schema: Schema): unknown[] | undefined {
  if ('const' in schema) return [schema.const]
  return Array.isArray(schema.enum) ? schema.enum : undefined
}

/** The types that a schema allows; undefined if it allows any. */
function typesIn(schema: Schema): string[] | undefined {
  const { type, anyOf, oneOf, allOf } = schema
  if (type !== undefined) return [type].flat().map(String)
  const values = valuesOf(schema)
  if (values !== undefined) return [...new Set(values.map(typeOf))]
  const choices = [anyOf, oneOf].find(Array.isArray)
  if (choices !== undefined) {
    const inner = choices.map(choice => (isSchema(choice) ? typesIn(choice) : undefined))
    return inner.includes(undefined) ? undefined : [...new Set(inner.flatMap(types => types ?? []))]
  }
  const parts = Array.isArray(allOf) ? allOf.filter(isSchema) : []
  return parts.map(typesIn).find(types => types !== undefined)
}

function isOf(type: string, value: unknown): boolean {
  const own = typeOf(value)
  return own === type || (own === 'integer' && type === 'number')
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (isExactNumber(value)) return /^-?\d+$/.test(value()) ? 'integer' : 'number'
  return Number.isInteger(value) ? 'integer' : typeof value
}

function nameOf(value: unknown): string {
  const type = typeOf(value)
  return type === 'string' ? 'text' : type
}

/** The values of one of these types that another value can mean. */
function readingsOf(value: unknown, types: readonly string[]): { value: unknown }[] {
  const type = typeOf(value)
  if (types.includes('string'))
    return ['integer', 'number', 'boolean'].includes(type) ? [{ value: String(value) }] : []
  if (typeof value !== 'string' || hasMoreValuesThan(value, maxValues) || isDeeperThan(maxLevels, value))
    return []
  const read = jsonIn(/^\s*(true|false)\s*$/i.test(value) ? value.toLowerCase() : value)
  return read !== undefined && types.some(one => isOf(one, read)) ? [{ value: read }] : []
}

function jsonIn(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}
