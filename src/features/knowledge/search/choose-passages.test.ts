import { expect, test } from 'vitest'
import { choosePassages } from './choose-passages.ts'

const place = { source_name: 'a.txt', page: null, section: null, start: 0, end: 1 }

function results(...found: [source: string, score: number, length?: number][]) {
  return found.map(([source_id, score, length = 1000], index) => ({
    id: `${source_id}${index}`,
    source_id,
    content: 'x'.repeat(length),
    score,
    metadata: place,
  }))
}

const idsOf = (found: Parameters<typeof results>, characters: number) =>
  choosePassages(results(...found), characters).map(({ id }) => id)
const chosen = (...found: Parameters<typeof results>) => idsOf(found, 100_000)

test('the best six, in their order', () => {
  const found = Array.from({ length: 9 }, (_, at): [string, number] => [`source${at}-`, 1 - at / 100])
  expect(chosen(...found)).toEqual([
    'source0-0',
    'source1-1',
    'source2-2',
    'source3-3',
    'source4-4',
    'source5-5',
  ])
})

test('a source leaves room for others that are nearly as good', () => {
  const found: [string, number][] = [...Array(7).fill(['a', 0.9]), ['b', 0.8], ['c', 0.7]]
  expect(chosen(...found)).toEqual(['a0', 'a1', 'a2', 'a3', 'b7', 'c8'])
})

test('a source does not give way to what is far from as good', () => {
  const found: [string, number][] = [...Array(6).fill(['a', 0.9]), ['b', 0.3]]
  expect(chosen(...found)).toEqual(['a0', 'a1', 'a2', 'a3', 'a4', 'a5'])
})

test('as many as fit: a long one is passed over for a shorter one', () => {
  expect(chosen(['a', 0.9, 5000], ['b', 0.8, 8000], ['c', 0.7, 7000], ['d', 0.6, 1])).toEqual(['a0', 'c2'])
})

test('fewer where there is room for less', () => {
  expect(
    idsOf(
      [
        ['a', 0.9],
        ['b', 0.8],
        ['c', 0.7],
      ],
      2500,
    ),
  ).toEqual(['a0', 'b1'])
})

test('none where nothing was found', () => {
  expect(chosen()).toEqual([])
})
