import { maskApiKeys } from '../../api-key.ts'
import { AccessDenied, AppError, type ErrorCode, isSpent } from '../../errors.ts'
import { problemFrom, type SchemaViolation } from '../../schema-problem.ts'
import type { Area } from '../app.ts'

/** A response to a failed request, ready to send. */
export interface ErrorAnswer {
  status: number
  contentType: 'application/json; charset=utf-8' | 'text/plain; charset=utf-8'
  body: unknown
}

/** The parts of Fastify's own errors that are read. */
interface ForeignError {
  code?: string
  statusCode?: number
  message?: string
  validation?: SchemaViolation[]
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

/** Turns any thrown value into the catalogue's error or an access denial; unknown ones become INTERNAL_ERROR. */
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

function validationError(violation: SchemaViolation, context?: string): AppError {
  // A query names its parameters only: one that is given once is still a list if it can repeat.
  const isQuery = context === 'querystring'
  const instancePath = isQuery ? violation.instancePath.split('/', 2).join('/') : violation.instancePath
  const { field: named, issue } = problemFrom({ ...violation, instancePath })
  const field = named || (context ?? 'body')
  return new AppError('VALIDATION_ERROR', `${field} ${issue}.`, { details: { field, issue } })
}

/** Returns the response in the area's shape; an access denial is plain text, except for clients of OpenAI. */
export function formatError(error: AppError | AccessDenied, area: Area, requestId: string): ErrorAnswer {
  if (error instanceof AccessDenied && area === 'openai')
    return formatError(new AppError('FORBIDDEN', error.message), area, requestId)
  if (error instanceof AccessDenied)
    return { status: 403, contentType: 'text/plain; charset=utf-8', body: maskApiKeys(error.message) }
  const message =
    error.fault === 'unexpected'
      ? `${error.message} Quote request ${requestId} when you report it.`
      : error.message
  return {
    status: error.status,
    contentType: 'application/json; charset=utf-8',
    body: masked(bodyOf(error, message, area)),
  }
}

/** Masks API keys: a response that repeats a part of its request ends up in logs of clients. */
function masked(body: unknown): unknown {
  const text = JSON.stringify(body)
  const shown = maskApiKeys(text)
  return shown === text ? body : JSON.parse(shown)
}

function bodyOf(error: AppError, message: string, area: Area): unknown {
  if (area === 'openai') return { error: openAiError(error, message) }
  // Buyers of all resources read this shape.
  if (error.code === 'PAYMENT_REQUIRED') return { error: message, code: error.status, ...error.details }
  // A refused token has one shape on every path, so that clients can recognise it without knowing the area.
  if (area === 'generic' || error.code === 'UNAUTHORIZED')
    return { error: { code: error.code, message, details: error.details ?? {} } }
  if (area === 'payments')
    return {
      error: message,
      code: error.status,
      ...(error.details === undefined ? {} : { details: error.details }),
    }
  const isWaiting = error.code === 'CONVERSATION_WAITING'
  return { error: message, code: error.code, ...(isWaiting && { details: error.details }) }
}

/** An error in the form of OpenAI's API. */
export interface OpenAiError {
  message: string
  type: string
  param: unknown
  code: unknown
}

/** Other names that such clients have for codes. */
const openAiCodes: Record<string, string> = {
  UNAUTHORIZED: 'invalid_api_key',
  RATE_LIMITED: 'rate_limit_exceeded',
}

function openAiError(error: AppError, message: string): OpenAiError {
  if (isSpent(error)) return { message, type: 'insufficient_quota', param: null, code: 'insufficient_quota' }
  const { code: own, status, details = {} } = error
  const type = status < 500 ? 'invalid_request_error' : 'server_error'
  const { field: param = null, code = openAiCodes[own] ?? own.toLowerCase() } = details
  return { message, type: status === 429 ? 'rate_limit_error' : type, param, code }
}
