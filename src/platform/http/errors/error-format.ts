import type { ErrorCode } from '../../errors.ts'
import { AccessDenied, AppError } from '../../errors.ts'
import type { Area } from '../app.ts'

/** An answer to a failed request, ready to send. */
export interface ErrorAnswer {
  status: number
  contentType: 'application/json; charset=utf-8' | 'text/plain; charset=utf-8'
  body: unknown
}

/** A violation of a schema, as the validator tells it. */
interface Problem {
  keyword: string
  instancePath: string
  message?: string
  params?: Record<string, unknown>
  parentSchema?: { pattern?: string; description?: string }
}

/** The parts of Fastify's own errors that are looked at. */
interface ForeignError {
  code?: string
  statusCode?: number
  message?: string
  validation?: Problem[]
  validationContext?: string
}

const foreignCodes: Record<string, [code: ErrorCode, message: string]> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'UNSUPPORTED_MEDIA_TYPE',
    'This content type is not accepted here: send application/json, or multipart/form-data where a file is uploaded.',
  ],
  FST_ERR_CTP_BODY_TOO_LARGE: ['PAYLOAD_TOO_LARGE', 'The request body is too large.'],
  FST_ERR_CTP_INVALID_JSON_BODY: ['MALFORMED_JSON', 'The request body is not valid JSON.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [
    'VALIDATION_ERROR',
    'The request body does not match its Content-Length.',
  ],
  FST_ERR_BAD_URL: ['VALIDATION_ERROR', 'The path is not valid: write a percent sign as %25.'],
  FST_ERR_MAX_PARAM_LENGTH: ['NOT_FOUND', 'There is nothing under so long a path. See /docs.'],
}

/** Turns whatever was thrown into the catalogue's error or an access denial; what is unknown becomes INTERNAL_ERROR. */
export function asKnownError(error: unknown): AppError | AccessDenied {
  if (error instanceof AppError || error instanceof AccessDenied) return error
  const foreign = (typeof error === 'object' && error !== null ? error : {}) as ForeignError
  if (foreign.validation?.[0] !== undefined)
    return validationError(foreign.validation[0], foreign.validationContext)
  const known = foreign.code === undefined ? undefined : foreignCodes[foreign.code]
  if (known !== undefined) return new AppError(known[0], known[1], { cause: error })
  // A body that JSON.parse or its prototype-poisoning guard refused carries only a status.
  if (error instanceof SyntaxError && foreign.statusCode === 400)
    return new AppError('MALFORMED_JSON', 'The request body is not valid JSON.', { cause: error })
  if (foreign.statusCode !== undefined && foreign.statusCode >= 400 && foreign.statusCode < 500)
    return new AppError('VALIDATION_ERROR', 'The request is not valid.', { cause: error })
  return new AppError('INTERNAL_ERROR', 'Something went wrong on the server.', { cause: error })
}

function validationError(problem: Problem, context?: string): AppError {
  const path = pathOf(problem.instancePath, context)
  const missing = problem.keyword === 'required' ? String(problem.params?.missingProperty ?? '') : ''
  const extra =
    problem.keyword === 'additionalProperties' ? String(problem.params?.additionalProperty ?? '') : ''
  const field = clip([path, missing || extra].filter(part => part !== '').join('.')) || (context ?? 'body')
  const issue = missing ? 'is required' : extra ? 'is not a known field' : issueOf(problem)
  return new AppError('VALIDATION_ERROR', `${field} ${issue}.`, { details: { field, issue } })
}

/** A query names its parameters and has no parts of them: one that was given once is a list all the same, if it may repeat. */
function pathOf(pointer: string, context?: string): string {
  return context === 'querystring' ? dottedPath(pointer.split('/', 2).join('/')) : dottedPath(pointer)
}

/** `/settings/a~1b/0` (RFC 6901) as `settings.a/b.0`. */
function dottedPath(pointer: string): string {
  return pointer.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~')
}

/** Names that callers made up are quoted only so far. */
function clip(name: string): string {
  return name.length > 100 ? `${name.slice(0, 100)}…` : name
}

/** What is wrong, in words for a person; a schema's description says what a pattern means. */
function issueOf({ keyword, params = {}, message = 'is not valid', parentSchema }: Problem): string {
  const { limit, allowedValues, type, format } = params
  if (Array.isArray(allowedValues)) return `must be one of ${allowedValues.join(', ')}`
  if (keyword === 'type' && type !== undefined) return `must be ${[type].flat().map(nameOfType).join(' or ')}`
  if (keyword === 'format') return `must be ${namesOfFormats[String(format)] ?? `a valid ${format}`}`
  if (keyword === 'pattern' && parentSchema?.pattern === '\\S') return 'must not be blank'
  if (keyword === 'pattern' && parentSchema?.description !== undefined)
    return `does not have the right form: ${parentSchema.description.replace(/\.$/, '')}`
  return issuesOfLimits[keyword]?.(Number(limit)) ?? message
}

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

/** The answer in the area's shape; an access denial is plain text everywhere. */
export function formatError(error: AppError | AccessDenied, area: Area, requestId: string): ErrorAnswer {
  if (error instanceof AccessDenied)
    return { status: 403, contentType: 'text/plain; charset=utf-8', body: error.message }
  const message =
    error.fault === 'unexpected'
      ? `${error.message} Quote request ${requestId} when you report it.`
      : error.message
  return {
    status: error.status,
    contentType: 'application/json; charset=utf-8',
    body: bodyOf(error, message, area),
  }
}

function bodyOf(error: AppError, message: string, area: Area): unknown {
  // A refused token has one shape on every path, so that clients can recognise it without knowing the area.
  if (area === 'generic' || error.code === 'UNAUTHORIZED')
    return { error: { code: error.code, message, details: error.details ?? {} } }
  if (area === 'payments')
    return {
      error: message,
      code: error.status,
      ...(error.details === undefined ? {} : { details: error.details }),
    }
  return { error: message, code: error.code }
}
