import { describe, expect, it } from 'vitest'
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
  ])('and %s is told', (_case, { check }, input, problem) => {
    expect(check(input)).toMatch(problem)
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
  ])('and %s passes', (_case, { check }, input) => {
    expect(check(input)).toBeUndefined()
  })
})
