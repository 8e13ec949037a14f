import { describe, expect, it } from 'vitest'
import { processorTime } from '#test/support/processor-time.ts'
import { fromForeignSchema } from './foreign-schema.ts'

const object = (properties: Record<string, unknown>, more: Record<string, unknown> = {}) =>
  fromForeignSchema({ type: 'object', properties, ...more })

describe('arguments are checked against a schema from elsewhere', () => {
  it.each([
    ['a missing one', object({ city: { type: 'string' } }, { required: ['city'] }), {}, /city/],
    ['a wrong type', object({ days: { type: 'integer' } }), { days: 'two' }, /days must be integer/],
    [
      'one too many',
      object({}, { additionalProperties: false }),
      { other: 1 },
      /must not have additional properties/,
    ],
    ['a value that is not allowed', object({ unit: { enum: ['C', 'F'] } }), { unit: 'K' }, /unit/],
    ['a property named like a keyword', object({ pattern: { type: 'string' } }), { pattern: 1 }, /pattern/],
  ])('and %s is told', async (_case, { check }, input, problem) => {
    expect(await check(input)).toMatch(problem)
  })

  it.each([
    ['what fits', object({ city: { type: 'string' } }, { required: ['city'] }), { city: 'Ulm' }],
    ['a schema of nonsense', object({ city: { type: 7, minimum: 'x', anyOf: 3 } }), { city: 'Ulm' }],
    ['a reference in circles', object({ a: { $ref: '#/properties/a' } }), { a: 1 }],
    [
      'a pattern that takes for ever',
      object({ a: { type: 'string', pattern: '^(a+)+$' } }),
      { a: `${'a'.repeat(64)}!` },
    ],
    [
      'references that fan out',
      object(
        { a: { $ref: '#/$defs/d0' } },
        {
          $defs: Object.fromEntries(
            Array.from({ length: 64 }, (_, n) => [
              `d${n}`,
              { allOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] },
            ]),
          ),
        },
      ),
      { a: 1 },
    ],
    [
      'one of two that differ in their patterns',
      object({
        a: {
          oneOf: [
            { type: 'string', pattern: '^a' },
            { type: 'string', pattern: '^b' },
          ],
        },
      }),
      { a: 'b' },
    ],
    [
      'a list of the wrong values that is too long to be looked through',
      object({ a: { type: 'array', items: { type: 'number' } } }),
      { a: Array.from({ length: 100_000 }, () => 'b') },
    ],
    ['what its pattern does not forbid', object({ a: { not: { pattern: '^x' } } }), { a: 'b' }],
    [
      'a condition on a pattern',
      object(
        { a: { type: 'string' } },
        JSON.parse('{"if": {"properties": {"a": {"pattern": "^x"}}}, "then": {"required": ["b"]}}'),
      ),
      { a: 'b' },
    ],
    [
      'a property that a pattern allows',
      object({}, { patternProperties: { '^x-': {} }, additionalProperties: false }),
      { 'x-a': 1 },
    ],
  ])('and %s passes', async (_case, { check }, input) => {
    expect(await check(input)).toBeUndefined()
  })

  it('and much for many values costs no more than a moment, and still tells what is missing', async () => {
    const alternatives = Array.from({ length: 1400 }, (_, n) => ({ const: -n }))
    const { check } = object(
      { numbers: { type: 'array', items: { anyOf: alternatives } }, unit: { type: 'string' } },
      { required: ['unit'] },
    )
    const numbers = Array.from({ length: 50_000 }, () => -1399)
    const spent = await processorTime(async () => {
      expect(await check({ numbers, unit: 'C' })).toBeUndefined()
      expect(await check({ numbers })).toMatch(/unit/)
      expect(await check({ numbers, unit: 1 })).toMatch(/unit must be string/)
    })
    expect(spent).toBeLessThan(2000)
  })
})

it('a model is told of no alternatives at the top, which its service would refuse, but of all their properties', async () => {
  const { parameters, check } = object(
    { a: { type: 'string' } },
    { anyOf: [{ required: ['a'] }, { properties: { b: { type: 'string' } }, required: ['b'] }] },
  )
  expect(parameters).toEqual({
    type: 'object',
    properties: { a: { type: 'string' }, b: { type: 'string' } },
  })
  expect(await check({ b: 'x' })).toBeUndefined()
  expect(await check({})).toMatch(/fit/)
})
