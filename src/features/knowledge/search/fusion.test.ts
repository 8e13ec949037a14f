import { describe, expect, test } from 'vitest'
import { builtinWeight, fuse, withinReach } from './fusion.ts'

const found = (...similarities: [sequence: number, similarity: number][]) =>
  similarities.map(([sequence, similarity]) => ({ sequence, similarity }))
const order = (text: number[], vectors: number[], vectorWeight: number) =>
  fuse({
    text: text.map(sequence => ({ sequence, similarity: 0 })),
    vectors: [{ found: vectors.map(sequence => ({ sequence, similarity: 0 })), weight: vectorWeight }],
  }).map(({ sequence }) => sequence)

describe('two rankings as one', () => {
  test.each([
    ['what stands in both is ahead of what stands in one', [1, 2, 3], [4, 2, 5], 1, [2, 1, 4, 3, 5]],
    ['a light ranking only decides between close ranks', [1, 2, 3], [3, 2, 9], 0.125, [2, 3, 1, 9]],
    ['a ranking without weight adds to the end', [1, 2], [3], 0, [1, 2, 3]],
    ['one ranking alone keeps its order', [3, 1, 2], [], 1, [3, 1, 2]],
    ['the other alone, too', [], [3, 1, 2], 0.125, [3, 1, 2]],
    ['nothing is nothing', [], [], 1, []],
  ])('%s', (_, text, vectors, weight, expected) => {
    expect(order(text, vectors, weight)).toEqual(expected)
  })
})

test.each([0, 0.125, 0.3, 0.6, 0.9, 0.99])(
  'all that a ranking of the weight %f can bring among the first ones is within its reach',
  weight => {
    const text = Array.from({ length: 300 }, (_, index) => index + 1)
    for (const wanted of [1, 10, 20, 50]) {
      const reach = withinReach(weight, wanted)
      const isAmongFirst = (chunk: number) => order(text, [chunk], weight).indexOf(chunk) < wanted
      const furthest = [...text, 301].filter(isAmongFirst).at(-1)
      expect(furthest).toBe(reach === undefined ? 301 : Math.min(300, Math.max(wanted, reach)))
    }
  },
)

describe('scores', () => {
  test('are the greater of the two similarities', () => {
    const fused = fuse({
      text: found([1, 0.9], [2, 0.3]),
      vectors: [{ found: found([1, 0.5], [2, 0.4]), weight: 1 }],
    })
    expect(fused).toEqual([
      { sequence: 1, score: 0.9 },
      { sequence: 2, score: 0.4 },
    ])
  })

  test('never rise from one result to the next', () => {
    const fused = fuse({ text: found([1, 0.2], [2, 0.1], [3, 0.6], [4, 0.3]), vectors: [] })
    expect(fused.map(({ score }) => score)).toEqual([0.6, 0.6, 0.6, 0.3])
  })
})

test.each([
  ['a little where the index knows all words', { words: 1, unknownWords: 0 }, 0.125],
  ['more, the more of the words it does not know', { words: 1, unknownWords: 0.5 }, 0.5625],
  ['as much as the text where it knows none', { words: 1, unknownWords: 1 }, 1],
  ['nothing for pieces of text, which it knows as well', { words: 0, unknownWords: 0 }, 0],
])('the built-in vectors count for %s', (_, shares, weight) => {
  expect(builtinWeight(shares)).toBe(weight)
})
