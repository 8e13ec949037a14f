import { describe, expect, it } from 'vitest'
import { initialValues, readValues } from '#console/ui/schema.ts'
import { argumentsOf, formOf } from './arguments.ts'
import { changesOf, jsonOf, linesOf, newToolOf } from './tool-values.ts'

describe('headers of a tool', () => {
  it.each([
    ['Accept: text/html', '{"Accept":"text/html"}'],
    ['X-Key : a:b \n\n Via:{hop}', '{"X-Key":"a:b","Via":"{hop}"}'],
    ['X-Empty:', '{"X-Empty":""}'],
    ['', '{}'],
  ])('%j are %s', (lines, json) => {
    expect(jsonOf(lines)).toBe(json)
    expect(jsonOf(linesOf(json))).toBe(json)
  })

  it.each(['no colon', 'X-A: 1\nx-a: 2', ': value', '{"Accept": '])('%j is left to the service', lines => {
    expect(jsonOf(lines)).toBe(lines)
    expect(linesOf('{')).toBe('{')
  })
})

it('a form that was emptied empties the tool', () => {
  const values = { name: 'a', requiresApproval: true }
  expect(changesOf(values)).toEqual({ ...values, description: '', cluster: null })
  const configuration = { url: 'https://example.com', method: 'GET' }
  expect(newToolOf('http', { ...values, configuration })).toEqual({ ...values, type: 'http', configuration })
})

describe('arguments of a tool', () => {
  const roundTrip = (parameters: unknown, given: Record<string, unknown> = {}) => {
    const read = readValues(formOf(parameters), initialValues(formOf(parameters), given))
    return 'values' in read ? argumentsOf(parameters, read.values) : read
  }

  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['texts', { a: { type: 'string' }, b: { type: ['string', 'null'] } }, { a: 'x' }],
    ['checks that may be left out', { a: { type: 'boolean' }, b: { type: 'boolean' } }, { b: false }],
    ['objects', { a: { type: 'object', required: ['b'], properties: { b: { type: 'integer' } } } }, {}],
    ['several types', { a: { type: ['string', 'integer'] }, b: { anyOf: [] } }, { a: 5, b: [1] }],
    [
      'lists',
      { a: { type: 'array', items: { type: 'string' } }, b: { type: 'array' } },
      { a: ['x'], b: [1] },
    ],
    [
      'odd schemas',
      { a: true, b: null, c: { enum: 'x', title: {}, description: 1, pattern: '[' } },
      { a: 'x' },
    ],
    ['odd defaults', { a: { type: 'array', items: { type: 'string' }, default: 'x' } }, { a: [1, 2] }],
  ])('%s are given as they were written', (_, properties, given) => {
    expect(roundTrip({ type: 'object', properties }, given)).toEqual(given)
  })

  it('that nothing describes are written as JSON', () => {
    expect(roundTrip(undefined, { arguments: { a: [1] } })).toEqual({ a: [1] })
    expect(roundTrip({ properties: {} })).toEqual({})
  })
})
