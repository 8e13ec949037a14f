import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { groupDuplicates } from './duplicates.ts'

const warranty =
  'The warranty covers defects of the material for two years from the day of purchase, but not wear and tear, nor damage from use that the manual warns of.'

function groups(...texts: string[]): string[][] {
  const items = texts.map(content => ({ id: randomUUID(), content }))
  return groupDuplicates(items).map(({ first, duplicates }) =>
    [first, ...duplicates].map(({ content }) => content),
  )
}

describe('texts are grouped as duplicates of the first one', () => {
  test.each([
    ['that are the same', warranty],
    ['with other white space, case and punctuation', warranty.toUpperCase().replaceAll(', ', ' –\n')],
    ['with a word more at the end', `${warranty} Indeed!`],
  ])('%s', (_, other) => {
    expect(groups(warranty, 'Shipping is free.', other)).toEqual([[warranty, other], ['Shipping is free.']])
  })

  test('in Chinese', () => {
    const text = '绿茶和红茶都产自中国，茶叶的采摘从春天开始。'
    expect(groups(text, text.replace('，', ' '))).toHaveLength(1)
  })

  test('without words, if they are equal', () => {
    expect(groups('…', '…', '!!')).toEqual([['…', '…'], ['!!']])
  })
})

describe('texts stay apart', () => {
  test.each([
    ['with another number', warranty.replace('two', '2'), warranty.replace('two', '3')],
    [
      'that share a half',
      `${warranty} ${'Shipping is free of charge within the country. '.repeat(4)}`,
      warranty,
    ],
    ['that are short and differ in a sign', '-1.00', '1.00'],
    ['that are short and differ in a word', 'Tea is hot.', 'Tea is cold.'],
    ['with the same words in another order', 'the dog bites the old man', 'the old man bites the dog'],
  ])('%s', (_, one, other) => {
    expect(groups(one, other)).toEqual([[one], [other]])
  })
})

test('texts that were compared before are grouped again as they were', () => {
  const items = [warranty, 'Shipping is free.', warranty.toUpperCase(), 'Tea.', 'Tea.'].map(
    (content, at) => ({
      id: `again-${at}`,
      content,
    }),
  )
  const before = groupDuplicates(items)
  expect(before.map(({ duplicates }) => duplicates.length)).toEqual([1, 0, 1])
  expect(groupDuplicates(items)).toEqual(before)
})

test('a thousand texts with one beginning stay apart', () => {
  const texts = Array.from(
    { length: 1000 },
    (_, at) => `${warranty} Article ${at}. ${warranty} Sold in shop ${at}.`,
  )
  expect(groups(...texts)).toHaveLength(1000)
})
