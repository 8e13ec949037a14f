import { expect, test } from 'vitest'
import { parseJsonColumn } from './json-column.ts'

test.each([
  ['{"a":[1]}', { a: [1] }],
  ['null', null],
  ['{"a":', 'fallback'],
  ['', 'fallback'],
  [null, 'fallback'],
])('%j is %j', (text, value) => {
  expect(parseJsonColumn<unknown>(text, 'fallback')).toEqual(value)
})
