import type Schema from 'typebox/schema'
import { withDoubles } from '#platform/exact-json.ts'
import { flat, flatParameters } from './schemas/flat-schema.ts'
import {
  type Schema as ForeignSchema,
  isSchema,
  mapValues,
  sizeOf,
  withoutReferences,
} from './schemas/schema.ts'
import { tidied } from './schemas/tidy-schema.ts'
import { argumentProblem, type Tool, type ToolParameters } from './tool.ts'

/**
 * Keywords that are ignored when arguments are checked against a foreign schema: patterns can take
 * exponential time, and unique items are compared pairwise. Ignoring keywords lets more values match, so
 * keywords that forbid matches (`not`, `if`) are ignored as well. The called service checks its arguments
 * anyway; this check helps a model that forgot one.
 */
const unchecked = new Set([
  'pattern',
  'patternProperties',
  'propertyNames',
  'format',
  'uniqueItems',
  '$dynamicRef',
  '$recursiveRef',
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
/** Max pairs of schemas and values to compare: each takes some microseconds at worst. */
const maxComparisons = 5000

/** Returns the parts of a tool from a foreign JSON Schema, which is parsed when a call is checked. */
export function fromForeignSchema(parameters: ToolParameters): Pick<Tool, 'parameters' | 'check'> {
  return {
    parameters: flatParameters(parameters),
    check: async input => argumentProblem(await foreignProblem(parameters, input)),
  }
}

/** Returns the value's problem, as "field problem"; undefined without one or for an invalid schema. */
async function foreignProblem(toolParameters: ToolParameters, input: unknown): Promise<string | undefined> {
  // Loaded only when needed: it has many modules, which would delay every start.
  const { default: Schema } = await import('typebox/schema')
  try {
    const [schema, value] = withDoubles([withoutReferences(tidied(toolParameters)), input] as const)
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

/** Reduces a schema that is too large for its values to the required arguments and the type of each. */
function namesAndTypes(schema: ForeignSchema): ForeignSchema {
  const { required = [], properties } = flat(schema)
  return { type: 'object', required, properties: mapValues(properties, typeOf) }
}

function typeOf(schema: unknown): { type?: unknown } {
  return isSchema(schema) && 'type' in schema ? { type: schema.type } : {}
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
      // A value that seems to match several might match only one.
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
