import { expect, test } from 'vitest'
import { isPlaceholder, readableInput } from './tool-input.ts'

const parsed = (input: string) => JSON.parse(readableInput(input))
const twice = (value: unknown) => JSON.stringify(JSON.stringify(value))

test.each<[string, string, unknown]>([
  ['plain', '{"city":"Oslo"}', { city: 'Oslo' }],
  ['encoded twice', twice({ city: 'Oslo', say: '"hi"\n' }), { city: 'Oslo', say: '"hi"\n' }],
  ['encoded three times', JSON.stringify(twice({ city: 'Oslo' })), { city: 'Oslo' }],
  ['encoded twice, in blanks', ` ${twice({ x: 1 })}\n`, { x: 1 }],
  ['nothing, encoded twice', twice({}), {}],
  ['null', 'null', {}],
  ['null as text', '"null"', {}],
  ['an empty text', '""', {}],
  ['a raw LF in a text', '{"a":"x\ny"}', { a: 'x\ny' }],
  ['a raw CRLF and a tab in a text', '{"a":"x\r\n\ty"}', { a: 'x\r\n\ty' }],
  ['a raw LF in a name', '{"a\nb":1}', { 'a\nb': 1 }],
  ['a raw LF after a quotation mark', '{"a":"\\"\n"}', { a: '"\n' }],
  ['a raw LF, encoded twice', '"{\\"a\\":\\"x\ny\\"}"', { a: 'x\ny' }],
  ['lines between values', '{\n\t"a": "x"\r\n}', { a: 'x' }],
])('arguments that are %s are read', (_, input, expected) => expect(parsed(input)).toEqual(expected))

test.each([
  ['a text', '"Oslo"'],
  ['a list', '[1]'],
  ['broken', '{"a":'],
  ['blank', ' '],
  ['very long', `{"a":"${'x'.repeat(200_001)}\n"}`],
])('%s stays as it is', (_, input) => expect(readableInput(input)).toBe(input))

test.each(['{}', ' { } ', '[]', '[ ]', 'null', '"null"', '""', '"{}"'])('%j stands for no arguments', input =>
  expect(isPlaceholder(input)).toBe(true),
)
test.each(['', ' ', '{', '{"a":{}}', '"a"', '0'])('%j does not', input =>
  expect(isPlaceholder(input)).toBe(false),
)
