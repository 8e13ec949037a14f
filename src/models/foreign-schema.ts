import type Schema from 'typebox/schema'
import type { Tool, ToolParameters } from './tool.ts'
import { argumentProblem } from './tool.ts'

/**
 * Keywords that are not looked at when arguments are checked against a schema that others wrote: patterns may take
 * exponential time, references may lead in circles or fan out, and unique items are compared each with each. Where less is
 * looked at, more seems to fit, so that what forbids things that fit (`not`, `if`) is left out as well. The service that is
 * called judges its arguments anyway; ours is the help for a model that forgot one.
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

/** Keywords whose value maps names, which are no keywords, to schemas. */
const mapsOfSchemas = new Set(['properties', 'dependentSchemas'])

const deepest = 24
/** Schemas that are compared with values, each with each at worst: each takes some microseconds. */
const mostComparisons = 5000

/** The parts of a tool that follow from a JSON Schema written elsewhere; it is read when a call is to be checked, not before. */
export function fromForeignSchema(parameters: ToolParameters): Pick<Tool, 'parameters' | 'check'> {
  return {
    parameters: withoutAlternatives(parameters),
    check: async input => argumentProblem(await foreignProblem(parameters, input)),
  }
}

/** Model services take no alternatives at the top of a schema: the model is told of the properties of all. */
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

/** What is wrong with the value, as "field problem"; undefined if nothing is, or if the schema makes no sense. */
async function foreignProblem(schema: ToolParameters, value: unknown): Promise<string | undefined> {
  // Not before it is needed: many modules, for which every start would wait.
  const { default: Schema } = await import('typebox/schema')
  try {
    const isMuch = sizeOf(schema, mostComparisons) * sizeOf(value, mostComparisons) > mostComparisons
    const checkable = (isMuch ? namesAndTypes(schema) : withoutUnchecked(schema, deepest)) as Schema.XSchema
    if (Schema.Check(checkable, value)) return undefined
    const [, problems] = Schema.Errors(checkable, value)
    const [problem] = problems.filter(({ keyword }) => keyword !== 'boolean')
    const field = problem?.instancePath.slice(1).replaceAll('/', '.') ?? ''
    return `${field} ${problem?.message ?? 'is not valid'}`.trim()
  } catch {
    // A schema that nobody can read asks for nothing.
    return undefined
  }
}

/** Of much for many values: which arguments there must be, and of what type each is. */
function namesAndTypes({ required = [], properties }: ToolParameters): ToolParameters {
  const types = Object.entries(properties).map(([name, schema]) => [name, typeOf(schema)])
  return { type: 'object', required, properties: Object.fromEntries(types) }
}

function typeOf(schema: unknown): { type?: unknown } {
  return typeof schema === 'object' && schema !== null && 'type' in schema ? { type: schema.type } : {}
}

/** Values within a value, itself included; counted no further than `most`. */
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
      // What seems to fit several may fit one alone.
      keyword === 'oneOf' ? 'anyOf' : keyword,
      mapsOfSchemas.has(keyword) ? eachOf(value, levels) : inner(keyword, value, levels),
    ]),
  )
}

/** What `const`, `enum`, `default` and the like hold are values, not schemas. */
function inner(keyword: string, value: unknown, levels: number): unknown {
  return keyword === 'const' || keyword === 'enum' ? value : withoutUnchecked(value, levels - 1)
}

function eachOf(value: unknown, levels: number): unknown {
  if (typeof value !== 'object' || value === null) return {}
  return Object.fromEntries(
    Object.entries(value).map(([name, schema]) => [name, withoutUnchecked(schema, levels - 1)]),
  )
}
