import { describe, expect, it } from 'vitest'
import type { JsonSchema } from './schema.ts'
import { initialValues, kindOf, readValues } from './schema.ts'

describe('a form of a JSON Schema', () => {
  it.each<[JsonSchema, string]>([
    [{ type: 'string' }, 'text'],
    [{ type: ['string', 'null'], maxLength: 5000 }, 'long'],
    [{ type: 'string', format: 'multiline' }, 'long'],
    [{ type: 'integer' }, 'number'],
    [{ type: 'boolean' }, 'check'],
    [{ enum: ['a', 1, null] }, 'choice'],
    [{ type: 'array', items: { type: 'string' } }, 'lines'],
    [{ type: 'array', items: { type: 'object' } }, 'json'],
    [{ type: 'object', properties: { a: { type: 'string' } } }, 'object'],
    [{ type: 'object' }, 'json'],
    [{}, 'json'],
  ])('shows %j as %s', (schema, kind) => {
    expect(kindOf(schema)).toBe(kind)
  })

  const schema: JsonSchema = {
    required: ['name', 'count'],
    properties: {
      name: { type: 'string' },
      count: { type: 'integer', default: 3 },
      isOn: { type: 'boolean' },
      level: { enum: [1, 2, 'three'] },
      tags: { type: 'array', items: { type: 'string' } },
      inner: { type: 'object', properties: { text: { type: 'string' }, more: {} } },
      free: {},
    },
  }

  it('gives back what it was given, and takes defaults', () => {
    const values = {
      name: 'x',
      count: 0,
      isOn: true,
      level: 2,
      tags: ['a', 'b c'],
      inner: { text: '1', more: [1, { b: null }] },
      free: 'text',
    }
    expect(readValues(schema, initialValues(schema, { ...values, free: [true] }))).toEqual({
      values: { ...values, free: [true] },
    })
    expect(readValues(schema, initialValues(schema))).toEqual({ values: { count: 3, isOn: false } })
  })

  it('names the field that is no JSON', () => {
    expect(readValues(schema, { ...initialValues(schema), free: '{a' })).toEqual({ field: 'free' })
    expect(readValues(schema, { ...initialValues(schema), count: 'many' })).toEqual({ field: 'count' })
    expect(readValues(schema, { ...initialValues(schema), inner: { more: '[' } })).toEqual({ field: 'inner' })
  })
})
