import { describe, expect, it } from 'vitest'
import { parseJson } from '#platform/exact-json.ts'
import { processorTime } from '#test/support/processor-time.ts'
import { acceptArguments } from './accept-arguments.ts'
import { fromForeignSchema } from './foreign-schema.ts'

const Defs = {
  Id: { type: 'integer' },
  Point: { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] },
}
const types = {
  n: { type: 'integer' },
  f: { type: 'number' },
  b: { type: 'boolean' },
  s: { type: 'string' },
  o: { type: 'object', properties: { n: { type: 'integer' }, s: { type: 'string' } } },
  l: { type: 'array', items: { type: 'integer' } },
  any: {},
  mixed: { anyOf: [{ type: 'string' }, { type: 'integer' }] },
  either: { anyOf: [{ type: 'integer' }, { type: 'boolean' }] },
  maybe: { type: ['integer', 'null'] },
  nullable: { type: 'string', nullable: true },
  level: { enum: [1, 2, 3] },
  id: { $ref: '#/$defs/Id' },
  at: { allOf: [{ $ref: '#/$defs/Point' }, { properties: { y: { type: 'number' } } }] },
  shape: {
    oneOf: [
      {
        type: 'object',
        properties: { kind: { const: 'circle' }, r: { type: 'number' } },
        required: ['kind'],
      },
      { type: 'object', properties: { kind: { const: 'text' }, r: { type: 'string' } }, required: ['kind'] },
    ],
  },
  map: { type: 'object', additionalProperties: { type: 'integer' } },
}
const accept = (input: string, required: string[] = []) => {
  const parameters = { type: 'object' as const, properties: types, required, $defs: Defs }
  return acceptArguments(fromForeignSchema(parameters), parseJson(input))
}

describe('arguments that do not fit are coerced where there is one reading', () => {
  it.each([
    ['{"n": "5"}', '{"n":5}', 'n (text) was read as integer'],
    ['{"n": " -5.0 "}', '{"n":-5}', 'n (text) was read as integer'],
    ['{"n": "9007199254740993"}', '{"n":9007199254740993}', 'n (text) was read as integer'],
    ['{"f": "2.50"}', '{"f":2.5}', 'f (text) was read as number'],
    ['{"b": "True"}', '{"b":true}', 'b (text) was read as boolean'],
    ['{"s": 9007199254740993}', '{"s":"9007199254740993"}', 's (integer) was read as text'],
    ['{"s": false}', '{"s":"false"}', 's (boolean) was read as text'],
    [
      '{"o": "{\\"n\\": \\"1\\", \\"s\\": null}"}',
      '{"o":{"n":1}}',
      'o (text) was read as object; o.n (text) was read as integer; o.s (null) was left out',
    ],
    ['{"l": "[1, \\"2\\"]"}', '{"l":[1,2]}', 'l (text) was read as array; l.1 (text) was read as integer'],
    ['{"n": null, "any": null, "maybe": null}', '{"any":null,"maybe":null}', 'n (null) was left out'],
    ['{"n": "5", "nullable": null}', '{"n":5,"nullable":null}', 'n (text) was read as integer'],
    ['{"either": "true"}', '{"either":true}', 'either (text) was read as boolean'],
    ['{"maybe": "7"}', '{"maybe":7}', 'maybe (text) was read as integer'],
    ['{"level": "2"}', '{"level":2}', 'level (text) was read as integer'],
    ['{"id": "12"}', '{"id":12}', 'id (text) was read as integer'],
    [
      '{"at": {"x": "1", "y": "2"}}',
      '{"at":{"x":1,"y":2}}',
      'at.x (text) was read as integer; at.y (text) was read as integer',
    ],
    [
      '{"shape": {"kind": "circle", "r": "2"}}',
      '{"shape":{"kind":"circle","r":2}}',
      'shape.r (text) was read as integer',
    ],
    [
      '{"shape": {"kind": "text", "r": 2}}',
      '{"shape":{"kind":"text","r":"2"}}',
      'shape.r (integer) was read as text',
    ],
    ['{"map": {"a": "1"}}', '{"map":{"a":1}}', 'map.a (text) was read as integer'],
  ])('%s', async (given, input, coerced) => {
    const accepted = await accept(given)
    expect(JSON.stringify(accepted)).toBe(
      `{"input":${input},"coerced":${JSON.stringify(coerced.split('; '))}}`,
    )
  })

  it.each([
    '{"n": "five"}',
    '{"n": "5.5"}',
    '{"n": "0x10"}',
    '{"n": "007"}',
    '{"n": 5.5}',
    '{"n": true}',
    '{"b": "yes"}',
    '{"b": 1}',
    '{"l": "1,2"}',
    '{"l": 1}',
    '{"o": "[]"}',
    '{"o": "text"}',
    '{"f": "NaN"}',
    '{"f": ""}',
    '{"level": "4"}',
    '{"s": {}}',
    '{"s": null, "n": "x"}',
  ])('%s is refused as before', async given => {
    expect(await accept(given)).toEqual({ problem: expect.stringContaining('The arguments do not fit') })
  })

  it('a required null is refused', async () => {
    expect(await accept('{"s": null}', ['s'])).toEqual({
      problem: 'The arguments do not fit: s must be string.',
    })
  })

  it.each([
    '{"s": "5"}',
    '{"s": "{\\"a\\": 1}"}',
    '{"mixed": "5"}',
    '{"any": "5"}',
    '{"nullable": null}',
    '{"n": 5.0}',
  ])('%s fits, so that nothing is changed', async given => {
    const input = parseJson(given)
    expect(await accept(given)).toEqual({ input, coerced: [] })
  })

  it('and a call that is too large for it costs no more than a moment', async () => {
    const spent = await processorTime(async () => {
      const { problem } = await accept(
        JSON.stringify({ l: Array.from({ length: 19_000 }, () => 'x'), n: 'x' }),
      )
      expect(problem).toContain('n must be integer')
    })
    expect(spent).toBeLessThan(1000)
  })
})
