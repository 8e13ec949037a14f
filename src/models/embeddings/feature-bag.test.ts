import { expect, test } from 'vitest'
import { createFeatureBag } from './feature-bag.ts'

/** What the bag is to hold of these terms, told in strings. */
function expected(terms: readonly string[]): number[] {
  const weights = new Map<string, number>()
  for (const term of terms) {
    const marked = `^${term}$`
    const count = Math.max(1, marked.length - 3)
    for (let at = 0; at < count; at += 1) {
      const feature = marked.slice(at, at + 4)
      weights.set(feature, (weights.get(feature) ?? 0) + 1)
    }
  }
  return [...weights.values()]
}

function weightsOf(terms: readonly string[], bag = createFeatureBag()): number[] {
  bag.clear()
  for (const term of terms) bag.add(term, 1)
  return Array.from({ length: bag.size() }, (_, place) => bag.weightAt(place))
}

test('each sequence stands in the bag once, in the order in which it came first', () => {
  const terms = ['a', 'ab', 'abc', 'banana', 'ananas', 'a', '漢', '漢字', 'ba', 'größe', '😀😀']
  expect(weightsOf(terms)).toEqual(expected(terms))
})

test('a bag grows with what it is given, and is empty again once it is cleared', () => {
  const bag = createFeatureBag()
  const terms = Array.from({ length: 4_000 }, (_, at) => `${(at * 7919) % 3001}x${at % 17}`)
  expect(weightsOf(terms, bag)).toEqual(expected(terms))
  expect(weightsOf(['term'], bag)).toEqual([1, 1, 1])
})

test('a sequence has the same hash whatever it came with, and another one another', () => {
  const bag = createFeatureBag()
  bag.add('ab', 1)
  const alone = bag.hashAt(0)
  bag.add('abab', 1)
  expect(Array.from({ length: bag.size() }, (_, place) => bag.hashAt(place))).not.toContain(0)
  expect(bag.hashAt(0)).toBe(alone)
  expect(new Set(Array.from({ length: bag.size() }, (_, place) => bag.hashAt(place))).size).toBe(bag.size())
})
