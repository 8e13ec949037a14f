import { isExactNumber, parseJson } from '#platform/exact-json.ts'
import { isDeeperThan, maxModelLevels } from '#platform/json-depth.ts'
import { hasMoreValuesThan, maxValues } from '#platform/json-values.ts'
import { flat, partsOf } from './schemas/flat-schema.ts'
import { isSchema, mapValues, type Schema, sizeOf, withoutReferences } from './schemas/schema.ts'
import { tidied } from './schemas/tidy-schema.ts'

export interface Coerced {
  input: Record<string, unknown>
  /** One clause for each change, without the values, which might be secret. */
  coerced: string[]
}

/** Max changes that are described one by one. */
const maxDescribed = 20
/** Max pairs of schemas and values: larger arguments are not coerced. */
const maxPairs = 50_000

/**
 * Reads arguments by the schema where it allows only one reading: a number or a truth value written as text,
 * a number in place of a text, JSON within a text, null for an optional member. Valid values are unchanged.
 */
export function coerceArguments(parameters: Schema, given: Record<string, unknown>): Coerced {
  const changes: string[] = []
  const schema = withoutReferences(tidied(parameters))
  if (sizeOf(schema, maxPairs) * sizeOf(given, maxPairs) > maxPairs) return { input: given, coerced: [] }
  const input = coerceObject(schema, given, { path: '', note: change => changes.push(change) })
  const more = changes.length - maxDescribed
  return { input, coerced: more > 0 ? [...changes.slice(0, maxDescribed), `${more} more`] : changes }
}

interface Place {
  path: string
  note(change: string): void
}

function coerce(schema: unknown, given: unknown, place: Place): unknown {
  if (!isSchema(schema)) return given
  const types = typesIn(schema)
  const isOdd = types !== undefined && !types.some(type => isOf(type, given))
  const value = isOdd ? readingOf(given, types) : given
  if (value === undefined) return given
  if (isOdd) place.note(`${place.path} (${nameOf(given)}) was read as ${nameOf(value)}`)
  if (isSchema(value)) return coerceObject(schema, value, place)
  if (!Array.isArray(value)) return value
  const items = partsOf({ schema, isAlternative: false }).find(part => 'items' in part.schema)?.schema.items
  return value.map((item, index) => coerce(items, item, below(place, String(index))))
}

function coerceObject(schema: Schema, value: Record<string, unknown>, place: Place): Record<string, unknown> {
  const {
    properties,
    required = [],
    additionalProperties,
  } = flat({
    ...schema,
    ...mapValues({ anyOf: schema.anyOf, oneOf: schema.oneOf }, choices => meantBy(value, choices)),
  })
  const entries = Object.entries(value).flatMap(([name, member]) => {
    const inner = Object.hasOwn(properties, name) ? properties[name] : additionalProperties
    const at = below(place, name)
    const mayBeNull = !isSchema(inner) || typesIn(inner)?.includes('null') !== false
    if (member !== null || mayBeNull || required.includes(name))
      return [[name, coerce(inner, member, at)] as const]
    at.note(`${at.path} (null) was left out`)
    return []
  })
  return Object.fromEntries(entries)
}

/** Returns the alternatives whose constant members are those of the value. */
function meantBy(value: Record<string, unknown>, choices: unknown): Schema[] {
  const isMeant = ({ properties }: Schema) =>
    Object.entries(Object(properties)).every(
      ([name, member]) =>
        !isSchema(member) || !('const' in member) || [undefined, member.const].includes(value[name]),
    )
  return Array.isArray(choices) ? choices.filter(isSchema).filter(isMeant) : []
}

function below({ path, note }: Place, name: string): Place {
  return { path: path === '' ? name : `${path}.${name}`, note }
}

/** Returns the types that a schema allows; undefined if it allows any. */
function typesIn(schema: Schema): string[] | undefined {
  const { type, enum: allowed, anyOf, oneOf, allOf } = schema
  if (type !== undefined) return [type].flat().map(String)
  if ('const' in schema) return [typeOf(schema.const)]
  if (Array.isArray(allowed)) return allowed.map(typeOf)
  const of = (list: unknown) => (Array.isArray(list) ? list.filter(isSchema).map(typesIn) : [])
  const choices = [...of(anyOf), ...of(oneOf)]
  if (choices.length === 0) return of(allOf).find(types => types !== undefined)
  return choices.every(types => types !== undefined) ? choices.flat() : undefined
}

function isOf(type: string, value: unknown): boolean {
  const valueType = typeOf(value)
  return valueType === type || (valueType === 'integer' && type === 'number')
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

/** Returns the one value of these types that another value can mean. */
function readingOf(value: unknown, types: readonly string[]): unknown {
  if (types.includes('string'))
    return ['integer', 'number', 'boolean'].includes(typeOf(value)) ? String(value) : undefined
  if (typeof value !== 'string' || hasMoreValuesThan(value, maxValues) || isDeeperThan(maxModelLevels, value))
    return undefined
  const read = jsonIn(/^\s*(true|false)\s*$/i.test(value) ? value.toLowerCase() : value)
  return types.some(one => isOf(one, read)) ? read : undefined
}

function jsonIn(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}
