import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { createValidatorCompiler } from './validation.ts'

const compile = createValidatorCompiler()

function check(httpPart: string, schema: ReturnType<typeof Type.Object>, value: object): unknown {
  const validate = compile({ schema, httpPart, method: 'POST', url: '/' })
  return validate(value) === true ? value : 'refused'
}

const schema = Type.Object({
  tag: Type.Optional(Type.Array(Type.String())),
  limit: Type.Optional(Type.Integer({ default: 50 })),
  on: Type.Optional(Type.Boolean()),
})

it('query values become what their schema says, with defaults', () => {
  expect(check('querystring', schema, { tag: 'a', limit: '3', on: 'true' })).toEqual({
    tag: ['a'],
    limit: 3,
    on: true,
  })
  expect(check('querystring', schema, { tag: ['a', 'b'] })).toEqual({ tag: ['a', 'b'], limit: 50 })
})

it.each([
  { limit: '' },
  { limit: ' ' },
  { limit: '\t\n' },
  { limit: 'x' },
  { limit: '1.5' },
  { limit: ['1', '2'] },
  { on: 'yes' },
])('a query that fits no reading is refused: %j', value => {
  expect(check('querystring', schema, value)).toBe('refused')
})

it.each([{ tag: 'a' }, { limit: '3' }, { on: 'true' }, { on: 1 }])(
  'bodies are taken as they are: %j',
  value => {
    expect(check('body', schema, value)).toBe('refused')
  },
)

describe('a field that a body does not know', () => {
  const message = Type.Object({
    content: Type.String(),
    conversationId: Type.Optional(Type.String()),
    model: Type.Optional(Type.String()),
    url: Type.Optional(Type.String()),
  })
  const validate = compile({ schema: message, httpPart: 'body', method: 'POST', url: '/' })

  it.each([
    ['conversation_id', 'conversationId'],
    ['conversation-id', 'conversationId'],
    ['ConversationID', 'conversationId'],
    ['conversatoinId', 'conversationId'],
    ['conversationIds', 'conversationId'],
    ['onversationId', 'conversationId'],
    ['contint', 'content'],
    ['URL', 'url'],
  ])('is refused if it is nearly one that it knows: %s', (field, meant) => {
    expect(validate({ content: 'x', [field]: 'y' })).toBe(false)
    const issue = `is not a known field: write ${meant}`
    expect(validate).toHaveProperty('errors', [
      expect.objectContaining({ instancePath: `/${field}`, message: issue }),
    ])
    expect(validate({ content: 'x' })).toBe(true)
  })

  it.each([
    'conversation',
    'mode',
    'urls',
    'uri',
    'temperature',
    'contest1',
    '',
    '_',
    'toString',
    '__proto__',
  ])('is taken out if it is another one: %j', field => {
    const body = JSON.parse(`{"content": "x", ${JSON.stringify(field)}: "y"}`)
    expect(check('body', message, body)).toEqual({ content: 'x' })
  })

  it('is no concern of queries, nor of bodies that name no fields', () => {
    expect(check('querystring', message, { content: 'x', Content: 'y' })).toBeTypeOf('object')
    const anything = Type.Object({ content: Type.Optional(Type.String()) }, { additionalProperties: true })
    expect(check('body', anything, { Content: 'x' })).toBeTypeOf('object')
    expect(check('body', message, [] as object)).toBe('refused')
  })
})

it('infinity is no number of a body', () => {
  const amount = Type.Object({ amount: Type.Number() })
  expect(check('body', amount, { amount: 1.5 })).toEqual({ amount: 1.5 })
  expect(check('body', amount, { amount: Number.POSITIVE_INFINITY })).toBe('refused')
})

it('infinity is out of bounds in a query', () => {
  for (const bounded of [Type.Integer({ maximum: 10 }), Type.Number({ maximum: 10 })])
    expect(check('querystring', Type.Object({ bounded }), { bounded: 'Infinity' })).toBe('refused')
})

it.each([
  ['date-time', '2026-01-01T00:00:00Z', '2026-13-01T00:00:00Z'],
  ['date', '2026-01-31', '2026-02-30'],
  ['email', 'a@example.com', 'a example.com'],
  ['uri', 'https://example.com/a', 'example.com/a b'],
])('the format %s is checked', (format, good, bad) => {
  const text = Type.Object({ text: Type.String({ format }) })
  expect(check('body', text, { text: good })).toEqual({ text: good })
  expect(check('body', text, { text: bad })).toBe('refused')
})

it('what does not fit is false, with what is wrong beside it', () => {
  const validate = compile({ schema, httpPart: 'body', method: 'POST', url: '/' })
  expect(validate({ limit: '3' })).toBe(false)
  expect(validate).toHaveProperty('errors', [expect.objectContaining({ instancePath: '/limit' })])
  expect(validate({ limit: 3 })).toBe(true)
})
