/** Keywords of a schema that contain no other schema; each is used only if it is valid by the standard. */
import { isExactNumber } from '#platform/exact-json.ts'
import { isRecord, ownValue } from '../calling/values.ts'
import { cleanLine, cleanText, isCleanName } from './clean-text.ts'
import { type Detail, described, type JsonSchema } from './json-schema.ts'
import { isSafePattern } from './safe-pattern.ts'

const types = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'])
const sizes = ['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'] as const
/** Formats that specify the width of a number on the wire, which is irrelevant to its author. */
const widths = new Set(['int32', 'int64', 'float', 'double', 'password'])
const maxFormatLength = 40
const maxPatternLength = 120
const maxValueLength = 500

export function simpleKeywords(source: unknown, detail: Detail): JsonSchema {
  return {
    ...typeOf(source),
    ...descriptionOf(source, detail),
    ...allowedValues(source, detail),
    ...numberLimits(source),
    ...sizeLimits(source),
    ...patternOf(source),
  }
}

/** Returns the type. An undeclared type is inferred from keywords that apply only to it. */
export function typeOf(source: unknown): JsonSchema {
  const declared = ownValue(source, 'type')
  const named = [...new Set(Array.isArray(declared) ? declared : [declared])].filter(isType)
  if (named.length > 1) return { type: named }
  const [only] = named
  if (only !== undefined) return { type: only }
  if (declared !== undefined) return {}
  if (isRecord(ownValue(source, 'properties'))) return { type: 'object' }
  return ownValue(source, 'items') === undefined ? {} : { type: 'array' }
}

function isType(value: unknown): value is string {
  return typeof value === 'string' && types.has(value)
}

function descriptionOf(source: unknown, detail: Detail): JsonSchema {
  if (detail.descriptionCharacters === 0) return {}
  const text = textOr(ownValue(source, 'description')) ?? textOr(ownValue(source, 'title'))
  const description = text === undefined ? undefined : cleanText(text, detail.descriptionCharacters)
  return described(description, ...notesOf(source))
}

/** Returns keywords in words, because validators and model services disagree on them or they are unsafe to run. */
function notesOf(source: unknown): (string | undefined)[] {
  const format = textOr(ownValue(source, 'format')) ?? textOr(ownValue(source, 'contentEncoding'))
  const isUseful = format !== undefined && !widths.has(format) && isCleanName(format)
  const pattern = textOr(ownValue(source, 'pattern'))
  return [
    isUseful ? `Format: ${cleanLine(format, maxFormatLength)}.` : undefined,
    pattern === undefined || isSafePattern(pattern)
      ? undefined
      : `Pattern: ${cleanLine(pattern, maxPatternLength)}`,
    ownValue(source, 'uniqueItems') === true ? 'No item occurs twice.' : undefined,
  ]
}

function allowedValues(source: unknown, { enumValues }: Detail): JsonSchema {
  const schema: JsonSchema = {}
  const allowed = ownValue(source, 'enum')
  if (Array.isArray(allowed) && allowed.length > 0 && allowed.length <= enumValues) {
    const values = allowed.filter(isSimple)
    // An incomplete list would forbid values that the service accepts.
    if (values.length === allowed.length) schema.enum = [...new Set(values)]
  }
  if (isRecord(source) && Object.hasOwn(source, 'const') && isSimple(source.const))
    schema.const = source.const
  const byDefault = ownValue(source, 'default')
  if (byDefault !== undefined && isSimple(byDefault)) schema.default = byDefault
  return schema
}

function isSimple(value: unknown): boolean {
  if (typeof value === 'string')
    return value.length <= maxValueLength && value.isWellFormed() && !value.includes('\0')
  return value === null || typeof value === 'boolean' || Number.isFinite(value) || isExactNumber(value)
}

/** In 3.0, a boolean marks a limit as exclusive; later versions give the exclusive limit itself. */
function numberLimits(source: unknown): JsonSchema {
  const schema: JsonSchema = {}
  const minimum = finite(ownValue(source, 'minimum'))
  const maximum = finite(ownValue(source, 'maximum'))
  const above = ownValue(source, 'exclusiveMinimum')
  const below = ownValue(source, 'exclusiveMaximum')
  if (minimum !== undefined) schema[above === true ? 'exclusiveMinimum' : 'minimum'] = minimum
  if (maximum !== undefined) schema[below === true ? 'exclusiveMaximum' : 'maximum'] = maximum
  const exclusiveMinimum = finite(above)
  const exclusiveMaximum = finite(below)
  if (exclusiveMinimum !== undefined) schema.exclusiveMinimum = exclusiveMinimum
  if (exclusiveMaximum !== undefined) schema.exclusiveMaximum = exclusiveMaximum
  const multipleOf = finite(ownValue(source, 'multipleOf'))
  if (multipleOf !== undefined && multipleOf > 0) schema.multipleOf = multipleOf
  return schema
}

/** Leaves out limits that a double would change. */
function finite(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

function sizeLimits(source: unknown): JsonSchema {
  const schema: JsonSchema = {}
  for (const name of sizes) {
    const value = ownValue(source, name)
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) schema[name] = value
  }
  return schema
}

function patternOf(source: unknown): JsonSchema {
  const pattern = textOr(ownValue(source, 'pattern'))
  return pattern !== undefined && isCleanName(pattern) && isSafePattern(pattern) ? { pattern } : {}
}

function textOr(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}
