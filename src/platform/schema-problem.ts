import { isExactNumber } from './exact-json.ts'

/** A violation of a schema from the validator. */
export interface SchemaViolation {
  keyword: string
  instancePath: string
  message?: string
  /** The violating value, from a verbose validator. */
  data?: unknown
  params?: Record<string, unknown>
  /** The violated schema, from a verbose validator. */
  parentSchema?: { pattern?: string; description?: string }
}

/** A value's problem, for a person. */
export interface SchemaProblem {
  /** Path of a field within the value, such as `items.0.name`; empty for the whole. */
  field: string
  /** A sentence without its subject. */
  issue: string
}

export function problemFrom(violation: SchemaViolation): SchemaProblem {
  const { keyword, params = {}, instancePath } = violation
  const missing = keyword === 'required' ? String(params.missingProperty ?? '') : ''
  const extra = keyword === 'additionalProperties' ? String(params.additionalProperty ?? '') : ''
  const field = clip([dottedPath(instancePath), missing || extra].filter(part => part !== '').join('.'))
  return { field, issue: missing ? 'is required' : extra ? 'is not a known field' : issueOf(violation) }
}

/** Returns `/settings/a~1b/0` (RFC 6901) as `settings.a/b.0`. */
function dottedPath(pointer: string): string {
  return pointer.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~')
}

/** Shortens a quoted name, which callers can choose. */
function clip(name: string): string {
  return name.length > 100 ? `${name.slice(0, 100)}…` : name
}

/** Returns the problem in words for a person; a schema's description explains a pattern. */
function issueOf(violation: SchemaViolation): string {
  const { keyword, params = {}, message = 'is not valid', parentSchema, data } = violation
  if (isExactNumber(data)) return inexact
  const { limit, allowedValues, type, format } = params
  if (keyword === 'const') return `must be ${JSON.stringify(params.allowedValue)}`
  if (Array.isArray(allowedValues)) return `must be one of ${allowedValues.join(', ')}`
  if (keyword === 'type' && type !== undefined) return `must be ${[type].flat().map(nameOfType).join(' or ')}`
  if (keyword === 'format') return `must be ${namesOfFormats[String(format)] ?? `a valid ${format}`}`
  if (keyword === 'pattern' && parentSchema?.pattern === '\\S') return 'must not be blank'
  if (keyword === 'pattern' && parentSchema?.description !== undefined)
    return `does not have the right form: ${parentSchema.description.replace(/\.$/, '')}`
  return issuesOfLimits[keyword]?.(Number(limit)) ?? message
}

const inexact = 'would be rounded: write a number of at most 15 digits, or a text where one may be'

const issuesOfLimits: Record<string, (limit: number) => string> = {
  minimum: limit => `must be at least ${limit}`,
  maximum: limit => `must be at most ${limit}`,
  exclusiveMinimum: limit => `must be more than ${limit}`,
  exclusiveMaximum: limit => `must be less than ${limit}`,
  minLength: limit => (limit === 1 ? 'must not be empty' : `must have at least ${limit} characters`),
  maxLength: limit => `must have at most ${limit} characters`,
  minItems: limit => (limit === 1 ? 'must not be empty' : `must have at least ${limit} entries`),
  maxItems: limit => `must have at most ${limit} entries`,
  minProperties: () => 'must name at least one field',
}

const namesOfTypes: Record<string, string> = {
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
}

function nameOfType(type: unknown): string {
  return namesOfTypes[String(type)] ?? String(type)
}

const namesOfFormats: Record<string, string> = {
  'date-time': 'a time such as 2026-01-31T12:00:00Z',
  date: 'a date such as 2026-01-31',
  email: 'an email address',
  uri: 'a whole address such as https://example.com/page',
}
