import { expect, test } from 'vitest'
import { seededRandom } from '#test/support/random.ts'
import { bestOf } from './best-postings.ts'
import type { Postings } from './read-postings.ts'

const random = seededRandom(5)

/** @param step how far apart the sequences are at most. */
function makeList(length: number, step: number): Postings {
  const sequences = new Uint32Array(length)
  for (let at = 0, sequence = 0; at < length; at += 1) {
    sequence += 1 + Math.floor(random.next() * step)
    sequences[at] = sequence
  }
  return { sequences, values: Float32Array.from({ length }, () => Math.ceil(random.next() * 8) / 8) }
}

function expected(lists: readonly Postings[]): [number, number][] {
  const sums = new Map<number, number>()
  for (const { sequences, values } of lists)
    sequences.forEach((sequence, at) => {
      sums.set(sequence, (sums.get(sequence) ?? 0) + (values[at] ?? 0))
    })
  return [...sums].sort(([one, first], [other, second]) => second - first || one - other)
}

test.each([
  ['of few numbers close together', 40, 3],
  ['of many numbers close together', 3000, 3],
  ['of numbers far apart', 200, 10_000],
  ['of no numbers', 0, 3],
])('the best of lists %s are those with the greatest sums, of equal ones the first', (_, length, step) => {
  const counts = (sequence: number) => sequence % 7 !== 0
  for (const count of [0, 1, 2, 5])
    for (const limit of [1, 2, 50, 10_000]) {
      const lists = Array.from({ length: count }, () => makeList(Math.floor(length * random.next()), step))
      lists.push(makeList(length, step))
      const sums = expected(lists).filter(([sequence]) => counts(sequence))
      const found = bestOf(lists, limit, counts).map(({ sequence, value }) => [sequence, value])
      expect(found).toEqual(sums.slice(0, limit))
    }
})

test('the best of no lists are none', () => {
  expect(bestOf([], 10, () => true)).toEqual([])
})
