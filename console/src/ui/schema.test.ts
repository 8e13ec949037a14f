import { describe, expect, it } from 'vitest'
import { parseExact } from '#console/api/exact-json.ts'
import {
  changedValues,
  initialValues,
  type JsonSchema,
  kindOf,
  readValues,
  withoutSecrets,
} from './schema.ts'

describe('a form of a JSON Schema', () => {
  it.each<[JsonSchema, string]>([
    [{ type: 'string' }, 'text'],
    [{ type: ['string', 'null'], maxLength: 5000 }, 'long'],
    [{ type: 'string', format: 'multiline' }, 'long'],
    [{ type: 'integer' }, 'number'],
    [{ type: 'integer', format: 'duration' }, 'duration'],
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

  const wait: JsonSchema = { properties: { wait: { type: 'integer', format: 'duration', default: 86_400 } } }

  it.each([
    [1, '1', 'second'],
    [86_399, '86399', 'second'],
    [5400, '90', 'minute'],
    [7200, '2', 'hour'],
    [172_800, '2', 'day'],
  ])('shows %j seconds as %s %ss, and reads them as they were', (seconds, amount, unit) => {
    const draft = initialValues(wait, { wait: seconds })
    expect(draft).toEqual({ wait: { amount, unit } })
    expect(readValues(wait, draft)).toEqual({ values: { wait: seconds } })
  })

  it('reads parts of a unit of time, and an empty amount as none', () => {
    const read = (amount: string) => readValues(wait, { wait: { amount, unit: 'hour' } })
    expect([read('1.1'), read('')]).toEqual([{ values: { wait: 3960 } }, { values: {} }])
    expect(changedValues(wait, { wait: 60 }, {})).toEqual({ wait: null })
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

  it.each<[string, unknown, unknown]>([
    ['tags', 'one', ['one']],
    ['tags', 7, ['7']],
    ['tags', { a: 1 }, ['{"a":1}']],
    ['tags', ['a', 2], ['a', '2']],
    ['inner', 'text', undefined],
    ['inner', [1], undefined],
  ])('takes for %s a default of another type, %j', (name, usual, value) => {
    const properties = { [name]: { ...schema.properties?.[name], default: usual } }
    const read = readValues({ properties }, initialValues({ properties }))
    expect(read).toEqual({ values: value === undefined ? {} : { [name]: value } })
  })

  it.each(['9007199254740993', '-123456789012345678901', '0.12345678901234567891', '1e400', '42'])(
    'sends the number %s with its digits',
    digits => {
      const typed = readValues(schema, { name: 'x', count: digits, inner: { more: `[${digits}]` } })
      expect(JSON.stringify(typed)).toBe(
        `{"values":{"name":"x","count":${digits},"inner":{"more":[${digits}]}}}`,
      )
      const values = { count: parseExact(digits) }
      expect(initialValues(schema, values)).toMatchObject({ count: digits })
      expect(changedValues(schema, values, { count: parseExact(digits) })).toEqual({})
    },
  )

  it('names the field that is no JSON', () => {
    expect(readValues(schema, { ...initialValues(schema), free: '{a' })).toEqual({ field: 'free' })
    expect(readValues(schema, { ...initialValues(schema), count: 'many' })).toEqual({ field: 'count' })
    expect(readValues(schema, { ...initialValues(schema), inner: { more: '[' } })).toEqual({ field: 'inner' })
  })
})

describe('what a form changes', () => {
  const schema: JsonSchema = {
    properties: {
      text: { type: 'string' },
      isOn: { type: 'boolean', default: false },
      rule: { type: 'object', properties: { mode: { type: 'string' } } },
      key: { type: 'string', writeOnly: true },
    },
  }
  it.each<[object, object, object]>([
    [{}, {}, {}],
    [{}, { isOn: false }, {}],
    [{ text: 'a' }, { text: 'a', isOn: true }, { isOn: true }],
    [{ text: 'a', isOn: true }, { text: 'b', isOn: true }, { text: 'b' }],
    [{ text: 'a' }, { isOn: false }, { text: null }],
    [{ rule: { mode: 'limit' } }, { rule: { mode: 'limit' } }, {}],
    [{ rule: { mode: 'limit' } }, {}, { rule: null }],
    [{ key: 'k' }, { key: 'k' }, { key: 'k' }],
    [{ other: 1 }, {}, {}],
  ])('%j becomes %j by %j', (before, now, changes) => {
    expect(changedValues(schema, { ...before }, { ...now })).toEqual(changes)
  })

  it('keeps no secret that was sent', () => {
    expect(withoutSecrets(schema, { text: 'a', key: 'k' })).toEqual({ text: 'a', key: '' })
  })
})
