import { expect, it } from 'vitest'
import { statusCodes } from '#test/spec/error-rows.ts'
import { AccessDenied, AppError, conflict, type ErrorCode, invalid, notFound } from './errors.ts'

const expected: Record<ErrorCode, [status: number, fault: AppError['fault']]> = {
  VALIDATION_ERROR: [400, 'user'],
  MALFORMED_JSON: [400, 'user'],
  MODEL_UNKNOWN: [400, 'user'],
  IMAGES_UNSUPPORTED: [400, 'user'],
  MODEL_NOT_CONFIGURED: [400, 'user'],
  SCHEMA_MISMATCH: [400, 'operational'],
  TURN_FAILED_AFTER_TOOLS: [400, 'operational'],
  OUTBOUND_REFUSED: [400, 'user'],
  CHANNEL_NOT_CONFIGURED: [400, 'user'],
  UNAUTHORIZED: [401, 'user'],
  PROVIDER_NOT_CONFIGURED: [401, 'user'],
  SIGNATURE_INVALID: [401, 'user'],
  PAYMENT_REQUIRED: [402, 'user'],
  FORBIDDEN: [403, 'user'],
  NOT_FOUND: [404, 'user'],
  CONFLICT: [409, 'user'],
  CONVERSATION_LOCKED: [409, 'user'],
  CONVERSATION_WAITING: [409, 'user'],
  APPROVAL_EXPIRED: [409, 'user'],
  PAYMENT_PENDING: [409, 'user'],
  PAYLOAD_TOO_LARGE: [413, 'user'],
  UNSUPPORTED_MEDIA_TYPE: [415, 'user'],
  RANGE_NOT_SATISFIABLE: [416, 'user'],
  ACTION_TIMEOUT: [408, 'user'],
  PROVIDER_REFUSED: [422, 'user'],
  RATE_LIMITED: [429, 'user'],
  TOO_MANY_SESSIONS: [429, 'user'],
  BUDGET_SPENT: [429, 'user'],
  OVERLOADED: [503, 'user'],
  OUTCOME_UNKNOWN: [500, 'operational'],
  SQL_FAILED: [500, 'operational'],
  SQL_UNAVAILABLE: [500, 'operational'],
  MODEL_ERROR: [500, 'operational'],
  TOOL_FAILED: [500, 'operational'],
  OUTBOUND_FAILED: [500, 'operational'],
  WORKFLOW_FAILED: [500, 'operational'],
  BROWSER_FAILED: [500, 'operational'],
  BROWSER_UNAVAILABLE: [500, 'operational'],
  CHANNEL_FAILED: [500, 'operational'],
  IDENTITY_UNAVAILABLE: [500, 'operational'],
  SHUTTING_DOWN: [500, 'operational'],
  DATA_DAMAGED: [500, 'operational'],
  INTERNAL_ERROR: [500, 'unexpected'],
  STORAGE_FULL: [507, 'operational'],
}

it.each(Object.entries(expected))(
  '%s has a status that the service uses, and a fault',
  (code, [status, fault]) => {
    const error = new AppError(code as ErrorCode, 'Why.')
    expect([error.status, error.fault, error.message]).toEqual([status, fault, 'Why.'])
    expect(statusCodes).toContain(status)
  },
)

it('an error keeps what lies underneath, and details only where there are any', () => {
  const cause = new Error('underneath')
  expect(new AppError('MODEL_ERROR', 'Why.', { cause }).cause).toBe(cause)
  expect('cause' in new AppError('MODEL_ERROR', 'Why.')).toBe(false)
  expect(new AppError('MODEL_ERROR', 'Why.').details).toBeUndefined()
})

it('the usual errors are made in words', () => {
  expect(invalid('name', 'is taken')).toMatchObject({
    code: 'VALIDATION_ERROR',
    message: 'name: is taken',
    details: { field: 'name', issue: 'is taken' },
  })
  expect(invalid('', 'Nothing was sent.').message).toBe('Nothing was sent.')
  expect(notFound('Source')).toMatchObject({ code: 'NOT_FOUND', message: 'Source not found' })
  expect(conflict('In use.')).toMatchObject({ code: 'CONFLICT', message: 'In use.' })
  expect(new AccessDenied('No.')).not.toBeInstanceOf(AppError)
})
