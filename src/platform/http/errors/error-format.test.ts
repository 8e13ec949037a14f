import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { AccessDenied, AppError } from '../../errors.ts'
import type { Area } from '../app.ts'
import { asKnownError, formatError } from './error-format.ts'
import { errorSchemas } from './error-schemas.ts'

const areas = ['generic', 'chat', 'payments'] as const
const details = { field: 'name', issue: 'is taken' }

describe('an error of the catalogue', () => {
  const error = new AppError('CONFLICT', 'The name is taken.', { details })
  it.each<[area: Area, body: object]>([
    ['generic', { error: { code: 'CONFLICT', message: 'The name is taken.', details } }],
    ['chat', { error: 'The name is taken.', code: 'CONFLICT' }],
    ['payments', { error: 'The name is taken.', code: 409, details }],
  ])('has the shape of the area %s', (area, body) => {
    expect(formatError(error, area, 'r-1')).toEqual({
      status: 409,
      contentType: 'application/json; charset=utf-8',
      body,
    })
  })

  it.each(areas)('looks as the API description says in the area %s, with and without details', area => {
    const check = new Ajv({ strict: false }).compile(errorSchemas[area])
    for (const code of ['NOT_FOUND', 'CONFLICT', 'RATE_LIMITED', 'MODEL_ERROR', 'INTERNAL_ERROR'] as const)
      for (const given of [undefined, details]) {
        const made = new AppError(code, 'Why.', given === undefined ? {} : { details: given })
        expect(check(formatError(made, area, 'r-1').body)).toBe(true)
      }
  })

  it.each(areas)('says the same of a refused token in the area %s', area => {
    expect(formatError(new AppError('UNAUTHORIZED', 'Sign in.'), area, 'r-1')).toMatchObject({
      status: 401,
      body: { error: { code: 'UNAUTHORIZED', message: 'Sign in.', details: {} } },
    })
  })
})

it.each(areas)('an access denial is plain text in the area %s', area => {
  expect(formatError(new AccessDenied('Ask the owner.'), area, 'r-1')).toEqual({
    status: 403,
    contentType: 'text/plain; charset=utf-8',
    body: 'Ask the owner.',
  })
})

it('the id of the request is quoted when the fault is ours, and only then', () => {
  const messageOf = (error: AppError) => JSON.stringify(formatError(error, 'chat', 'r-17').body)
  expect(messageOf(new AppError('INTERNAL_ERROR', 'Something went wrong.'))).toContain('Quote request r-17')
  expect(messageOf(new AppError('MODEL_ERROR', 'The model failed.'))).not.toContain('r-17')
  expect(messageOf(new AppError('CONFLICT', 'Taken.'))).not.toContain('r-17')
})

describe('what was thrown', () => {
  it('is kept if it is known', () => {
    for (const known of [new AppError('CONFLICT', 'x'), new AccessDenied('x')])
      expect(asKnownError(known)).toBe(known)
  })

  it.each([new TypeError('secret detail'), 'secret detail', undefined, null, { statusCode: 503 }, 7])(
    'is a defect of ours if it is %o, and is not told',
    thrown => {
      const error = asKnownError(thrown)
      expect(error).toMatchObject({ code: 'INTERNAL_ERROR' })
      expect(error.cause).toBe(thrown)
      expect(error.message).not.toContain('secret')
    },
  )

  it.each([
    ['FST_ERR_CTP_INVALID_MEDIA_TYPE', 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['FST_ERR_CTP_BODY_TOO_LARGE', 413, 'PAYLOAD_TOO_LARGE'],
    ['FST_ERR_CTP_INVALID_JSON_BODY', 400, 'MALFORMED_JSON'],
    ['FST_ERR_BAD_URL', 400, 'VALIDATION_ERROR'],
    ['FST_ERR_MAX_PARAM_LENGTH', 414, 'NOT_FOUND'],
    ['FST_ERR_OF_TOMORROW', 418, 'VALIDATION_ERROR'],
    ['FST_ERR_OF_TOMORROW', 500, 'INTERNAL_ERROR'],
  ])("is translated if it is Fastify's %s with %i", (code, statusCode, expected) => {
    expect(asKnownError(Object.assign(new Error('x'), { code, statusCode }))).toMatchObject({
      code: expected,
    })
  })
})

describe('a failed validation', () => {
  it.each([
    [
      { keyword: 'required', instancePath: '', params: { missingProperty: 'name' }, message: 'x' },
      { field: 'name', issue: 'is required' },
    ],
    [
      { keyword: 'required', instancePath: '/nested/0', params: { missingProperty: 'id' }, message: 'x' },
      { field: 'nested.0.id', issue: 'is required' },
    ],
    [
      { keyword: 'type', instancePath: '/a~1b/c~0d', params: { type: 'string' }, message: 'must be string' },
      { field: 'a/b.c~d', issue: 'must be a string' },
    ],
    [
      { keyword: 'enum', instancePath: '/status', params: { allowedValues: ['on', 'off'] }, message: 'x' },
      { field: 'status', issue: 'must be one of on, off' },
    ],
    [
      {
        keyword: 'additionalProperties',
        instancePath: '',
        params: { additionalProperty: 'colour' },
        message: 'x',
      },
      { field: 'colour', issue: 'is not a known field' },
    ],
    [
      { keyword: 'type', instancePath: '', params: { type: ['object', 'null'] }, message: 'x' },
      { field: 'body', issue: 'must be an object or null' },
    ],
    [
      { keyword: 'type', instancePath: '/x' },
      { field: 'x', issue: 'is not valid' },
    ],
  ])('names the field and what is wrong with it: %j', (problem, expected) => {
    const error = asKnownError({ statusCode: 400, validation: [problem], validationContext: 'body' })
    expect(error).toMatchObject({ code: 'VALIDATION_ERROR', details: expected })
    expect(error.message).toBe(`${expected.field} ${expected.issue}.`)
  })

  it('quotes a made-up name only so far', () => {
    const problem = {
      keyword: 'additionalProperties',
      instancePath: '',
      params: { additionalProperty: 'x'.repeat(1_000_000) },
    }
    expect(asKnownError({ validation: [problem] }).message.length).toBeLessThan(200)
  })
})

describe('what is wrong with a field', () => {
  it.each([
    [{ keyword: 'minLength', params: { limit: 1 } }, 'must not be empty'],
    [{ keyword: 'minLength', params: { limit: 3 } }, 'must have at least 3 characters'],
    [{ keyword: 'maxLength', params: { limit: 5 } }, 'must have at most 5 characters'],
    [{ keyword: 'minItems', params: { limit: 1 } }, 'must not be empty'],
    [{ keyword: 'maxItems', params: { limit: 9 } }, 'must have at most 9 entries'],
    [{ keyword: 'minimum', params: { comparison: '>=', limit: 0 } }, 'must be at least 0'],
    [{ keyword: 'exclusiveMaximum', params: { comparison: '<', limit: 2 } }, 'must be less than 2'],
    [{ keyword: 'type', params: { type: 'integer' } }, 'must be a whole number'],
    [{ keyword: 'type', params: { type: ['array', 'boolean'] } }, 'must be a list or true or false'],
    [{ keyword: 'format', params: { format: 'email' } }, 'must be an email address'],
    [{ keyword: 'format', params: { format: 'ipv4' } }, 'must be a valid ipv4'],
    [{ keyword: 'minProperties', params: { limit: 1 } }, 'must name at least one field'],
    [{ keyword: 'pattern', parentSchema: { pattern: '\\S' } }, 'must not be blank'],
    [
      { keyword: 'pattern', parentSchema: { pattern: '^a$', description: 'One a.' } },
      'does not have the right form: One a',
    ],
    [{ keyword: 'pattern', message: 'must match pattern "^a$"' }, 'must match pattern "^a$"'],
  ])('is said in words for a person: %j', (problem, issue) => {
    const error = asKnownError({ validation: [{ instancePath: '/name', ...problem }] })
    expect(error).toMatchObject({ message: `name ${issue}.`, details: { field: 'name', issue } })
  })
})
