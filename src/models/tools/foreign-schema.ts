import type Schema from 'typebox/schema'
import { withDoubles } from '#platform/exact-json.ts'
import type { Tool, ToolParameters } from './tool.ts'
import { argumentProblem } from './tool.ts'

/**
 * Keywords that are ignored when arguments are checked against a schema written by others: patterns may take
 * exponential time, references may be circular or fan out, and unique items are compared pairwise. Ignoring keywords
 * makes more values match, so keywords that forbid matches (`not`, `if`) are ignored as well. The called service checks
 * its arguments anyway; this check helps a model that forgot one.
 */
const unchecked = new Set([
  'pattern',
  'patternProperties',
  'propertyNames',
  'format',
  'uniqueItems',
  '$ref',
  '$dynamicRef',
  '$recursiveRef',
  '$defs',
  'definitions',
  'unevaluatedProperties',
  'unevaluatedItems',
  'not',
  'if',
  'then',
  'else',
  'maxContains',
])

/** Keywords whose value maps names, which are not keywords, to schemas. */
const mapsOfSchemas = new Set(['properties', 'dependentSchemas'])

const deepest = 24
/** Maximum number of pairs of schemas and values to compare: each takes some microseconds at worst. */
const maxComparisons = 5000

/** The parts of a tool that follow from a JSON Schema written elsewhere; it is parsed only when a call is checked. */
export function fromForeignSchema(parameters: ToolParameters): Pick<Tool, 'parameters' | 'check'> {
  return {
    parameters: withoutAlternatives(parameters),
    check: async input => argumentProblem(await foreignProblem(parameters, input)),
  }
}

/** Model services accept no alternatives at the top level of a schema: the model is given the properties of all of them. */
function withoutAlternatives({
  oneOf,
  anyOf,
  allOf,
  not: _,
  enum: __,
  ...schema
}: ToolParameters): ToolParameters {
  const alternatives = [oneOf, anyOf, allOf].flat().filter(isSchema)
  const properties = Object.assign({}, ...alternatives.map(({ properties }) => properties), schema.properties)
  return { ...schema, properties }
}

function isSchema(value: unknown): value is { properties?: Record<string, unknown> } {
  return typeof value === 'object' && value !== null
}

/** The problem of the value, as "field problem"; undefined if there is none, or if the schema is invalid. */
async function foreignProblem(given: ToolParameters, input: unknown): Promise<string | undefined> {
  // Loaded only when needed: it has many modules, and every start would wait for them.
  const { default: Schema } = await import('typebox/schema')
  try {
    const [schema, value] = withDoubles([given, input] as const)
    const isMuch = sizeOf(schema, maxComparisons) * sizeOf(value, maxComparisons) > maxComparisons
    const checkable = (isMuch ? namesAndTypes(schema) : withoutUnchecked(schema, deepest)) as Schema.XSchema
    if (Schema.Check(checkable, value)) return undefined
    const [, problems] = Schema.Errors(checkable, value)
    const [problem] = problems.filter(({ keyword }) => keyword !== 'boolean')
    const field = problem?.instancePath.slice(1).replaceAll('/', '.') ?? ''
    return `${field} ${problem?.message ?? 'is not valid'}`.trim()
  } catch {
    // A schema that cannot be read requires nothing.
    return undefined
  }
}

/** Large schemas for many values are reduced to which arguments there must be, and of what type each is. */
function namesAndTypes({ required = [], properties }: ToolParameters): ToolParameters {
  const types = Object.entries(properties).map(([name, schema]) => [name, typeOf(schema)])
  return { type: 'object', required, properties: Object.fromEntries(types) }
}

function typeOf(schema: unknown): { type?: unknown } {
  return typeof schema === 'object' && schema !== null && 'type' in schema ? { type: schema.type } : {}
}

/** The number of values within a value, including itself, counted up to `most`. */
function sizeOf(value: unknown, most: number): number {
  const waiting = [value]
  let size = 0
  while (waiting.length > 0 && size < most) {
    const next = waiting.pop()
    size += 1
    if (typeof next === 'object' && next !== null)
      for (const inner of Object.values(next).slice(0, most)) waiting.push(inner)
  }
  return size
}

function withoutUnchecked(schema: unknown, levels: number): unknown {
  if (typeof schema !== 'object' || schema === null) return schema
  if (levels < 0) return {}
  if (Array.isArray(schema)) return schema.map(entry => withoutUnchecked(entry, levels - 1))
  const isOpen = 'patternProperties' in schema
  const entries = Object.entries(schema).filter(
    ([keyword]) => !(unchecked.has(keyword) || (isOpen && keyword === 'additionalProperties')),
  )
  return Object.fromEntries(
    entries.map(([keyword, value]) => [
      // A value that seems to match several may match only one.
      keyword === 'oneOf' ? 'anyOf' : keyword,
      mapsOfSchemas.has(keyword) ? eachOf(value, levels) : inner(keyword, value, levels),
    ]),
  )
}

/** `const`, `enum`, `default` and the like contain values, not schemas. */
function inner(keyword: string, value: unknown, levels: number): unknown {
  return keyword === 'const' || keyword === 'enum' ? value : withoutUnchecked(value, levels - 1)
}

function eachOf(value: unknown, levels: number): unknown {
  if (typeof value !== 'object' || value === null) return {}
  return Object.fromEntries(
    Object.entries(value).map(([name, schema]) => [name, withoutUnchecked(schema, levels - 1)]),
  )
}
