/**
 * Converts a schema of the document to a self-contained one: references are replaced by their targets. Parts that can't be
 * converted are left out, so that the result never rejects values that the document allows.
 */
import { isRecord, ownValue } from '../calling/values.ts'
import { isCleanName } from './clean-text.ts'
import { allOf, orNull } from './combine-schemas.ts'
import { type Detail, described, type JsonSchema } from './json-schema.ts'
import { simpleKeywords, typeOf } from './keywords.ts'
import type { References } from './references.ts'

/** One pass over the schemas of an operation. */
export interface Conversion {
  references: References
  detail: Detail
  /** The approximate number of characters left for the result; once it is negative, nothing more is converted. */
  characters: number
  /** True if something was left out because it is nested too deeply. */
  isCut: boolean
  /** Clauses about the parts that could not be read. */
  problems: Set<string>
  /** The first of the problems in another document, without which the arguments are unknown. */
  outside?: string
}

interface Place {
  depth: number
  /** References that enclose this place. */
  open: readonly string[]
}

/** The minimum cost of a schema, so that their number is limited too. */
const charactersOfSchema = 10

export function startConversion(references: References, detail: Detail, characters: number): Conversion {
  return { references, detail, characters, isCut: false, problems: new Set() }
}

export function convertSchema(conversion: Conversion, source: unknown): JsonSchema {
  return convert(conversion, source, { depth: 0, open: [] })
}

function convert(conversion: Conversion, source: unknown, place: Place): JsonSchema {
  conversion.characters -= charactersOfSchema
  if (conversion.characters < 0) return {}
  const found = conversion.references.resolve(source)
  if (!found.ok) {
    conversion.problems.add(found.problem)
    if (found.isOutside) conversion.outside ??= found.problem
    return {}
  }
  if (!isRecord(found.value)) return {}
  if (found.pointers.some(pointer => place.open.includes(pointer))) {
    return { ...typeOf(found.value), ...described(undefined, 'As the object around it, and so on.') }
  }
  return convertRecord(conversion, found.value, {
    depth: place.depth + 1,
    open: [...place.open, ...found.pointers],
  })
}

function convertRecord(conversion: Conversion, source: object, place: Place): JsonSchema {
  const simple = simpleKeywords(source, conversion.detail)
  conversion.characters -= simple.description?.length ?? 0
  if (place.depth > conversion.detail.depth) return cutOff(conversion, source, simple)
  const own: JsonSchema = {
    ...simple,
    ...objectKeywords(conversion, source, place),
    ...itemsOf(conversion, source, place),
    ...alternativesOf(conversion, source, place),
  }
  const parts = listOf(ownValue(source, 'allOf')).map(part => convert(conversion, part, place))
  const whole = parts.length === 0 ? own : allOf(own, parts)
  return ownValue(source, 'nullable') === true ? orNull(whole) : whole
}

const compound = ['properties', 'items', 'prefixItems', 'allOf', 'anyOf', 'oneOf']

function cutOff(conversion: Conversion, source: object, simple: JsonSchema): JsonSchema {
  const hasMore = compound.some(name => Object.hasOwn(source, name))
  if (!hasMore) return ownValue(source, 'nullable') === true ? orNull(simple) : simple
  conversion.isCut = true
  const type = ownValue(source, 'nullable') === true ? {} : typeOf(source)
  return { ...type, ...described(simple.description, 'Its details are left out here.') }
}

function objectKeywords(conversion: Conversion, source: object, place: Place): JsonSchema {
  const schema: JsonSchema = {}
  const properties = new Map<string, JsonSchema>()
  const hidden = new Set<string>()
  for (const [name, value] of entriesOf(ownValue(source, 'properties'))) {
    if (isHidden(conversion, name, value)) hidden.add(name)
    else properties.set(name, convert(conversion, value, place))
    conversion.characters -= name.length
    if (conversion.characters < 0) break
  }
  if (properties.size > 0) schema.properties = Object.fromEntries(properties)
  const required = listOf(ownValue(source, 'required')).filter(
    (name): name is string => typeof name === 'string' && isCleanName(name) && !hidden.has(name),
  )
  if (required.length > 0) schema.required = [...new Set(required)]
  const further = ownValue(source, 'additionalProperties')
  const isOpen = isRecord(ownValue(source, 'patternProperties'))
  if (further === false && !isOpen && hidden.size === 0) schema.additionalProperties = false
  if (isRecord(further) && !isOpen) schema.additionalProperties = convert(conversion, further, place)
  return schema
}

/** True for properties that only the service sets, that must never be present, or whose name can't be kept. */
function isHidden({ references }: Conversion, name: string, value: unknown): boolean {
  if (name === '__proto__' || !isCleanName(name) || value === false) return true
  const found = references.resolve(value)
  return found.ok && ownValue(found.value, 'readOnly') === true
}

/** Positional item schemas become items that can match any of them. */
function itemsOf(conversion: Conversion, source: object, place: Place): JsonSchema {
  const items = ownValue(source, 'items')
  const first = listOf(Array.isArray(items) ? items : ownValue(source, 'prefixItems'))
  if (first.length > 0) {
    const rest = isRecord(items) ? [items] : []
    return { items: { anyOf: [...first, ...rest].map(item => convert(conversion, item, place)) } }
  }
  return isRecord(items) ? { items: convert(conversion, items, place) } : {}
}

/** Converts "exactly one" to "at least one", because shortened or relaxed alternatives can overlap. */
function alternativesOf(conversion: Conversion, source: object, place: Place): JsonSchema {
  const [any, one] = ['anyOf', 'oneOf'].map(name => listOf(ownValue(source, name)))
  const alternatives = (any?.length ? any : (one ?? [])).filter(alternative => alternative !== false)
  if (alternatives.length === 0) return {}
  return { anyOf: alternatives.map(alternative => convert(conversion, alternative, place)) }
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

export function entriesOf(value: unknown): [string, unknown][] {
  return isRecord(value) ? Object.entries(value) : []
}
