import { expect, test } from 'vitest'
import { termsOf } from '#models/text-analysis/text-analysis.ts'
import { hashOf, hashTerms } from './term-hashes.ts'

const parts = [
  ...[
    'a',
    'Z',
    'word',
    'Word2',
    '7',
    '1.5',
    ' ',
    '  ',
    '\n',
    '\t',
    '-',
    '_',
    '(',
    ')',
    '"',
    "'",
    '’',
    '/',
    ';',
  ],
  ...[
    "don't",
    'dog’s',
    "'s",
    'é',
    'ü',
    'ß',
    'Σ',
    'ﬁ',
    '½',
    '²',
    '٣',
    'الكتاب',
    'を',
    '防守',
    '大',
    'ไทย',
    '한국',
  ],
  ...['\u0301', '\u0308', '\u00a0', '\u2028', '\u0000', '\u007f', '\ud83d\ude00', '\ud83d', 'İ', 'ﷺ'],
]

/** The same in every run. */
function madeUp(seed: number): string {
  let state = seed * 2_654_435_761 + 1
  const next = (below: number) => {
    state = Math.imul(state, 1_103_515_245) + 12_345
    return ((state >>> 8) & 0xffff) % below
  }
  return Array.from({ length: 1 + next(30) }, () => parts[next(parts.length)]).join('')
}

test('the terms that are hashed are those that a text is searched by', () => {
  for (let seed = 0; seed < 5000; seed += 1) {
    const text = madeUp(seed)
    const { hashes, numbers } = hashTerms(text)
    const terms = termsOf(text)
    expect([...hashes], JSON.stringify(text)).toEqual(terms.map(hashOf))
    expect(numbers, JSON.stringify(text)).toBe(terms.filter(term => /\p{N}/u.test(term)).join(' '))
  }
})

test('words differ by their letters, and not by their case', () => {
  const { hashes } = hashTerms('Tea tea TEAS')
  expect(hashes[0]).toBe(hashes[1])
  expect(hashes[2]).not.toBe(hashes[0])
})
