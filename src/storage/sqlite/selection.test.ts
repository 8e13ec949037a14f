import { expect, test } from 'vitest'
import { memberOf } from './selection.ts'

test.each([
  ['in a row', [7, 5, 6]],
  ['far apart', [3_000_000_000, 5]],
  ['one', [12]],
  ['none', []],
])('tells which sequences are selected: %s', (_case, sequences) => {
  const isMember = memberOf(sequences)
  expect(sequences.filter(isMember)).toEqual(sequences)
  expect([0, 4, 8, 11, 13, 2_999_999_999, 3_000_000_001].filter(isMember)).toEqual([])
})

test('a few sequences that lie far apart, as those of sources that were processed often, take little memory', () => {
  const before = process.memoryUsage().arrayBuffers
  const isMember = memberOf([1, 1_000_000_000])
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1_000_000)
  expect(isMember(1_000_000_000)).toBe(true)
})
