import Schema from 'typebox/schema'
import type { Tool, ToolParameters } from './tool.ts'
import { argumentProblem } from './tool.ts'

/**
 * Keywords that are not looked at when arguments are checked against a schema that others wrote: patterns may take
 * exponential time, references may lead in circles or fan out, and unique items are compared each with each. The service
 * that is called judges its arguments anyway; ours is the help for a model that forgot one.
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
])

/** Keywords whose value maps names, which are no keywords, to schemas. */
const mapsOfSchemas = new Set(['properties', 'dependentSchemas'])

const deepest = 24

/** The parts of a tool that follow from a JSON Schema written elsewhere; it is read when a call is to be checked, not before. */
export function fromForeignSchema(parameters: ToolParameters): Pick<Tool, 'parameters' | 'check'> {
  return {
    parameters,
    check: input => argumentProblem(foreignProblem(parameters, input)),
  }
}

/** What is wrong with the value, as "field problem"; undefined if nothing is, or if the schema makes no sense. */
function foreignProblem(schema: ToolParameters, value: unknown): string | undefined {
  try {
    const checkable = withoutUnchecked(schema, 0) as Schema.XSchema
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

function withoutUnchecked(schema: unknown, depth: number): unknown {
  if (typeof schema !== 'object' || schema === null) return schema
  if (depth > deepest) return {}
  if (Array.isArray(schema)) return schema.map(entry => withoutUnchecked(entry, depth + 1))
  const entries = Object.entries(schema).filter(([keyword]) => !unchecked.has(keyword))
  return Object.fromEntries(
    entries.map(([keyword, value]) => [
      keyword,
      mapsOfSchemas.has(keyword) ? eachOf(value, depth) : inner(keyword, value, depth),
    ]),
  )
}

/** What `const`, `enum`, `default` and the like hold are values, not schemas. */
function inner(keyword: string, value: unknown, depth: number): unknown {
  return keyword === 'const' || keyword === 'enum' ? value : withoutUnchecked(value, depth + 1)
}

function eachOf(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return {}
  return Object.fromEntries(
    Object.entries(value).map(([name, schema]) => [name, withoutUnchecked(schema, depth + 1)]),
  )
}
