import { expect, it } from 'vitest'
import { differences } from './differences.ts'

const signs = (before: string, after: string) =>
  differences(before, after).map(({ sign, text }) => `${sign}${text}`)

it.each([
  ['a', 'a', [' a']],
  ['a\nb\nc', 'a\nc', [' a', '-b', ' c']],
  ['a\nc', 'a\nb\nc', [' a', '+b', ' c']],
  ['a\nb\nc\nd', 'a\nx\nc\ny', [' a', '-b', '+x', ' c', '-d', '+y']],
  ['', 'a', ['-', '+a']],
  ['a\na', 'a', [' a', '-a']],
])('%j becomes %j by %j', (before, after, expected) => {
  expect(signs(before, after)).toEqual(expected)
})

it('both versions can be read from random differences, and long ones end', () => {
  let seed = 7
  const random = (below: number) => {
    seed = (seed * 1103515245 + 12345) % 2147483648
    return seed % below
  }
  const lines = (count: number) => Array.from({ length: count }, () => 'abcd'[random(4)]).join('\n')
  for (let round = 0; round < 200; round += 1) {
    const [before, after] = [lines(random(12) + 1), lines(random(12) + 1)]
    const found = differences(before, after)
    const side = (other: string) =>
      found
        .filter(({ sign }) => sign !== other)
        .map(({ text }) => text)
        .join('\n')
    expect([side('+'), side('-')]).toEqual([before, after])
  }
  expect(differences(lines(5000), lines(5000)).length).toBeGreaterThan(5000)
})
