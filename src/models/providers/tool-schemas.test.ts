import { describe, expect, it } from 'vitest'
import { processorTime } from '#test/support/processor-time.ts'
import type { RemoteProvider } from './provider.ts'
import { ruleFor } from './tool-schemas.ts'

const changed = (provider: RemoteProvider, schema: object) => ruleFor(provider, 'm')({ ...schema })
const properties = (of: object) => ({ type: 'object', properties: of })

describe('every provider is sent a valid schema', () => {
  it.each<[string, object, object]>([
    ['nothing', {}, properties({})],
    [
      'null in the place of objects and lists',
      { type: 'object', properties: null, required: null },
      properties({}),
    ],
    [
      'types of other languages',
      properties({ a: { type: 'int' }, b: { type: ['STRING', null] }, c: { type: 'any' } }),
      properties({ a: { type: 'integer' }, b: { type: ['string', 'null'] }, c: {} }),
    ],
    [
      'unknown formats',
      properties({ a: { type: 'string', format: 'uint', description: 'A.' }, b: { format: 'date' } }),
      properties({ a: { type: 'string', description: 'A. Format: uint.' }, b: { format: 'date' } }),
    ],
    [
      'lists without items',
      properties({ a: { type: 'array' }, b: { type: 'array', items: [{ type: 'string' }] } }),
      properties({
        a: { type: 'array', items: {} },
        b: { type: 'array', items: { anyOf: [{ type: 'string' }] } },
      }),
    ],
    [
      'limits of older drafts',
      properties({ a: { minimum: 1, exclusiveMinimum: true, maximum: '9' } }),
      properties({ a: { minimum: 1 } }),
    ],
    [
      'nullable',
      properties({ a: { type: 'string', enum: ['x'], nullable: true } }),
      properties({ a: { anyOf: [{ type: 'string', enum: ['x'] }, { type: 'null' }] } }),
    ],
    [
      'invalid patterns and enums',
      properties({ a: { pattern: 7, enum: [] }, b: { enum: null, anyOf: [] } }),
      properties({ a: {}, b: {} }),
    ],
    [
      'properties that are no schemas',
      properties({ a: null, b: true, c: false, d: 'text' }),
      properties({ a: {}, b: {}, d: {} }),
    ],
    [
      'flags in the place of lists',
      properties({ a: { type: 'string', required: true } }),
      properties({ a: { type: 'string' } }),
    ],
    [
      'identifiers',
      { $schema: 'http://json-schema.org/draft-07/schema#', $id: 'x', ...properties({}) },
      properties({}),
    ],
  ])('instead of %s', (_, given, sent) => {
    for (const provider of ['openai', 'openai-compatible', 'anthropic'] as const)
      expect(changed(provider, given)).toEqual({ schema: sent })
  })
})

describe('names that a provider refuses are changed, and changed back where they were', () => {
  const given = properties({
    $top: { type: 'integer', description: 'How many.' },
    top: {},
    ['x'.repeat(70)]: {},
    free: { type: 'object', additionalProperties: { type: 'object', properties: { 'a b': {} } } },
    list: { type: 'array', items: { anyOf: [{ $ref: '#/$defs/Node' }, { type: 'null' }] } },
  })
  const node = {
    type: 'object',
    properties: { '@id': {}, inner: { $ref: '#/$defs/Node' } },
    required: ['@id'],
  }

  it('at every depth, but not in what the caller names', () => {
    const { schema, restore } = changed('anthropic', {
      ...given,
      required: ['$top', 'top'],
      $defs: { Node: node },
    })
    expect(schema).toMatchObject({
      properties: { top_2: { type: 'integer', description: 'How many. Sent as "$top".' }, top: {} },
      required: ['top_2', 'top'],
      $defs: { Node: { properties: { id: { description: 'Sent as "@id".' } }, required: ['id'] } },
    })
    const call = {
      top_2: 5,
      top: 1,
      ['x'.repeat(58)]: 2,
      free: { id: { a_b: 1, id: 2 }, top_2: {} },
      list: [{ id: 1, inner: { id: 2 } }, null],
      other: { id: 3 },
    }
    expect(restore?.(call)).toEqual({
      $top: 5,
      top: 1,
      ['x'.repeat(70)]: 2,
      free: { id: { 'a b': 1, id: 2 }, top_2: {} },
      list: [{ '@id': 1, inner: { '@id': 2 } }, null],
      other: { id: 3 },
    })
  })

  it.each<[RemoteProvider, string, string]>([
    ['anthropic', 'filter[id]', 'filter_id_'],
    ['anthropic', 'größe', 'gr_e'],
    ['anthropic', '名前', '__'],
    ['anthropic', '', '_'],
    ['google', 'x-id', 'x_id'],
    ['google', '2fa', '_2fa'],
    ['google', 'a.b', 'a_b'],
  ])('for %s %j becomes %j', (provider, name, sent) => {
    const { schema, restore } = changed(provider, properties({ [name]: { type: 'string' } }))
    expect(Object.keys(schema.properties as object)).toEqual([sent])
    expect(restore?.({ [sent]: 'x' })).toEqual({ [name]: 'x' })
  })
})

it('Gemini is sent the keywords that it knows, without references', () => {
  const { schema } = changed('google', {
    ...properties({
      a: { $ref: '#/$defs/A', description: 'An A.' },
      b: { const: 'x' },
      c: { oneOf: [{ type: 'string', pattern: 'x' }, { type: 'integer' }] },
      d: { type: 'string', format: 'uri' },
      e: { allOf: [{ $ref: '#/$defs/A' }, { properties: { y: { type: 'string' } }, required: ['y', 'z'] }] },
    }),
    required: ['a', 'unknown'],
    $defs: {
      A: {
        type: 'object',
        properties: { x: { type: 'number' }, more: { $ref: '#/$defs/A' } },
        required: ['x'],
      },
    },
  })
  const x = { type: 'number' }
  expect(schema).toEqual({
    ...properties({
      a: {
        type: 'object',
        description: 'An A.',
        properties: { x, more: { type: 'object' } },
        required: ['x'],
      },
      b: { enum: ['x'] },
      c: { anyOf: [{ type: 'string' }, { type: 'integer' }] },
      d: { type: 'string' },
      e: {
        type: 'object',
        properties: { x, more: { type: 'object' }, y: { type: 'string' } },
        required: ['x', 'y'],
      },
    }),
    required: ['a'],
  })
})

it('schemas that fan out cost a moment', async () => {
  const Defs = Object.fromEntries(
    Array.from({ length: 40 }, (_, n) => [
      `d${n}`,
      {
        type: 'object',
        properties: { $a: { $ref: `#/$defs/d${n + 1}` }, $b: { $ref: `#/$defs/d${n + 1}` } },
      },
    ]),
  )
  const spent = await processorTime(async () => {
    for (const provider of ['google', 'anthropic'] as const)
      changed(provider, { ...properties({ a: { $ref: '#/$defs/d0' } }), $defs: Defs }).restore?.({
        a: { a: { a: {} } },
      })
  })
  expect(spent).toBeLessThan(500)
})
