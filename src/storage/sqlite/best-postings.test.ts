import { expect, test } from 'vitest'
import { seededRandom } from '#test/support/random.ts'
import { addUp, greatest } from './best-postings.ts'
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
  return [...sums].sort(([one], [other]) => one - other)
}

test.each([
  ['of few numbers close together', 40, 3],
  ['of many numbers close together', 3000, 3],
  ['of numbers far apart', 200, 10_000],
  ['of no numbers', 0, 3],
])('lists %s are added up', (_, length, step) => {
  for (const count of [0, 1, 2, 5]) {
    const lists = Array.from({ length: count }, () => makeList(Math.floor(length * random.next()), step))
    lists.push(makeList(length, step))
    const { sequences, values } = addUp(lists)
    expect(Array.from(sequences, (sequence, at) => [sequence, values[at]])).toEqual(expected(lists))
  }
})

test('no lists are nothing', () => {
  expect(addUp([]).sequences).toHaveLength(0)
})

test('the greatest values come first, of equal ones the first chunk, and only those that count', () => {
  const list = makeList(2000, 3)
  const counts = (sequence: number) => sequence % 7 !== 0
  const sorted = expected([list])
    .filter(([sequence]) => counts(sequence))
    .sort(([one, first], [other, second]) => second - first || one - other)
  const found = greatest(list, 50, counts).map(({ sequence, value }) => [sequence, value])
  expect(found).toEqual(sorted.slice(0, 50))
})
