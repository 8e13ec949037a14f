import { expect, test } from 'vitest'
import { createChunkNumbers, neighbours } from './chunk-places.ts'

test('chunks have the numbers that they were given, however far apart they are', () => {
  const numbers = createChunkNumbers()
  const sequences = [3, 70, 1, neighbours - 1, neighbours, 12 * neighbours + 5]
  for (const [number, sequence] of sequences.entries()) numbers.set(sequence, number)
  expect(sequences.map(numbers.get)).toEqual([0, 1, 2, 3, 4, 5])
  numbers.delete(70)
  expect([70, 2, neighbours + 1, 5 * neighbours].map(numbers.get)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ])
})

test('the numbers of few chunks take little room', () => {
  const numbers = createChunkNumbers()
  for (let sequence = 1; sequence < 50; sequence += 1) numbers.set(sequence, sequence)
  expect(numbers.room()).toBe(64)
  numbers.set(100, 50)
  expect(numbers.room()).toBe(128)
  numbers.set(neighbours - 1, 51)
  expect(numbers.room()).toBe(neighbours)
})
