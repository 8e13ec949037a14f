/** Names parameters and body for the model, and describes them in one JSON Schema. */
import type { ArgumentSchema, PlacedArgument, RequestBody } from '../calling/http-configuration.ts'
import { cleanText } from './clean-text.ts'
import { type Conversion, convertSchema, startConversion } from './convert-schema.ts'
import { type Detail, described, type JsonSchema } from './json-schema.ts'
import { limits } from './limits.ts'
import type { Parameter } from './parameters.ts'
import type { References } from './references.ts'
import type { Body } from './request-body.ts'

export interface NamedParts {
  parameters: (Parameter & { argument: string })[]
  body: (Body & { argument: string }) | undefined
}

/** Details from full to almost none. */
const details: readonly Detail[] = [
  { depth: 10, descriptionCharacters: 1200, enumValues: 250 },
  { depth: 8, descriptionCharacters: 500, enumValues: 150 },
  { depth: 6, descriptionCharacters: 250, enumValues: 100 },
  { depth: 5, descriptionCharacters: 160, enumValues: 60 },
  { depth: 4, descriptionCharacters: 120, enumValues: 30 },
  { depth: 3, descriptionCharacters: 80, enumValues: 20 },
  { depth: 2, descriptionCharacters: 60, enumValues: 10 },
  { depth: 1, descriptionCharacters: 0, enumValues: 10 },
]
const maxArgumentLength = 64
/** Places in order of precedence for the names in the document. */
const places: readonly PlacedArgument['in'][] = ['path', 'query', 'header', 'cookie']

/**
 * The body is `body`. A parameter keeps its name if every model service accepts it (letters, digits, `_`, `.` and `-`,
 * at most 64), with `_` for other characters. If the name is taken, it is prefixed with its location (`query_id`), and
 * if necessary numbered.
 */
export function nameArguments(parameters: readonly Parameter[], body: Body | undefined): NamedParts {
  const taken = new Set(body === undefined ? [] : ['body'])
  const sorted = parameters.toSorted((one, other) => places.indexOf(one.in) - places.indexOf(other.in))
  const named = sorted.map(parameter => {
    const argument = freeName(parameter, taken)
    taken.add(argument)
    return { ...parameter, argument }
  })
  return { parameters: named, body: body && { ...body, argument: 'body' } }
}

function freeName({ name, in: place }: Parameter, taken: ReadonlySet<string>): string {
  const plain = name.replace(/[^\w.-]+/g, '_').slice(0, maxArgumentLength)
  const usable = /[A-Za-z\d]/.test(plain) && plain !== '__proto__'
  if (usable && !taken.has(plain)) return plain
  const base = `${place}_${usable ? plain : 'parameter'}`.slice(0, maxArgumentLength - 5)
  for (let number = 1; ; number += 1) {
    const candidate = number === 1 ? base : `${base}_${number}`
    if (!taken.has(candidate)) return candidate
  }
}

export type DescribedArguments =
  | { ok: true; schema: ArgumentSchema; warnings: string[] }
  | { ok: false; reason: string }

/**
 * The remaining budget for describing, over all operations of a document; after that, everything is described with
 * little detail.
 */
export interface Effort {
  characters: number
}

/** Describes arguments with as much detail as fits; omissions are reported. */
export function describeArguments(
  references: References,
  parts: NamedParts,
  description: string | undefined,
  effort: Effort,
): DescribedArguments {
  const attempt = (detail: Detail): DescribedArguments | undefined => {
    const conversion = startConversion(references, detail, limits.argumentCharacters)
    const schema = argumentSchema(conversion, parts, description)
    effort.characters -= limits.argumentCharacters - conversion.characters
    const { outside } = conversion
    if (outside !== undefined)
      return { ok: false, reason: `a part of its arguments can't be read: ${outside}` }
    const fits = conversion.characters >= 0 && JSON.stringify(schema).length <= limits.argumentCharacters
    return fits ? { ok: true, schema, warnings: warningsOf(conversion) } : undefined
  }
  const best = bestFitting(effort.characters > 0 ? details : details.slice(-2), attempt)
  return (
    best ?? {
      ok: false,
      reason: `the description of its arguments is longer than ${limits.argumentCharacters} characters`,
    }
  )
}

/**
 * Returns the first result that fits. Most fit in full detail; for the others, each level of detail is smaller than the one
 * before, so bisection finds it.
 */
function bestFitting<Result>(
  candidates: readonly Detail[],
  attempt: (detail: Detail) => Result | undefined,
): Result | undefined {
  const [first, ...smaller] = candidates
  let best = first && attempt(first)
  for (let [from, to] = [0, best === undefined ? smaller.length : 0]; from < to; ) {
    const middle = (from + to) >> 1
    const detail = smaller[middle]
    const result = detail && attempt(detail)
    if (result === undefined) from = middle + 1
    else {
      best = result
      to = middle
    }
  }
  return best
}

function warningsOf({ problems, detail, isCut }: Conversion): string[] {
  const warnings = [...problems].map(problem => `A part of its arguments is not described: ${problem}.`)
  if (isCut || detail !== details[0]) {
    warnings.push(
      `Its arguments are described ${detail.depth} levels deep; what lies deeper, or is too long, is left out.`,
    )
  }
  return warnings
}

function argumentSchema(
  conversion: Conversion,
  { parameters, body }: NamedParts,
  description: string | undefined,
): ArgumentSchema {
  const parts = body === undefined ? parameters : [...parameters, body]
  return {
    type: 'object',
    ...(description === undefined ? {} : { description }),
    properties: Object.fromEntries(parts.map(part => [part.argument, partSchema(conversion, part)])),
    required: parts.filter(part => part.required).map(part => part.argument),
    additionalProperties: false,
  }
}

type Part = (Parameter | Body) & { argument: string }

function partSchema(conversion: Conversion, part: Part): JsonSchema {
  const schema = convertSchema(conversion, part.schema)
  const longest = conversion.detail.descriptionCharacters
  const own =
    typeof part.description === 'string' && longest > 0 ? cleanText(part.description, longest) : undefined
  // The parameter's notes precede the schema's, which repeat none of them.
  const inner =
    own === undefined || schema.description === own ? schema.description : joined(own, schema.description)
  const isRenamed = 'name' in part && part.name !== part.argument
  return { ...schema, ...described(inner, isRenamed ? `Sent as ${JSON.stringify(part.name)}.` : undefined) }
}

function joined(own: string, inner: string | undefined): string {
  if (inner === undefined || own.includes(inner)) return own
  return inner.startsWith(own) ? inner : `${own} ${inner}`
}

/** The facts of an argument that a call needs. */
export function placementOf({ parameters }: NamedParts): PlacedArgument[] {
  return parameters.map(({ description: _, schema: __, ...placed }) => placed)
}

export function requestBodyOf({ body }: NamedParts): RequestBody | undefined {
  if (body === undefined) return undefined
  const { description: _, schema: __, ...rest } = body
  return rest
}
