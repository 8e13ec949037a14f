import { describe, expect, test } from 'vitest'
import { queryTerms } from '../text-analysis/text-analysis.ts'
import { builtinEmbedding, embedDocument, embedQuery, noiseLevel } from './builtin-embedding.ts'

/** The cosine of the angle that two vectors of bits stand for. */
function similarity(one: Uint8Array | undefined, other: Uint8Array | undefined): number {
  if (one === undefined || other === undefined) throw new Error('There is no vector.')
  const differing = one.reduce((sum, byte, index) => sum + ones(byte ^ (other[index] ?? 0)), 0)
  return Math.cos((Math.PI * differing) / (one.length * 8))
}

function ones(byte: number): number {
  return byte === 0 ? 0 : (byte & 1) + ones(byte >> 1)
}

const ask = (query: string, weightOf = (_: string) => 1) => embedQuery(queryTerms(query), weightOf)?.vector
const text =
  'The boundary layer on a flat plate becomes turbulent downstream of the transition. Measurements were made in a wind tunnel.'

describe('a document', () => {
  test('has a bit a dimension, the same ones each time', () => {
    expect(embedDocument(text)).toHaveLength(builtinEmbedding.dimensions / 8)
    expect(embedDocument(text)).toEqual(embedDocument(text))
  })

  test('without words has no vector', () => {
    expect(embedDocument('… !?')).toBeUndefined()
    expect(embedDocument('the of and')).toBeUndefined()
  })

  test('keeps its vectors from release to release, as long as the id is the same', () => {
    expect(Buffer.from(embedDocument('agent')?.slice(0, 8) ?? []).toString('hex')).toBe('ac5ccccc5caccccc')
  })

  test('points the same way whatever its upper case, accents, stop words and order', () => {
    expect(similarity(embedDocument('Die Größe des Flügels'), embedDocument('FLUGELS, die GROSSE!'))).toBe(1)
  })
})

describe('similarity', () => {
  test('estimates the cosine of the letter sequences', () => {
    // Each word has five sequences of its own, so that two texts that share one word of two have the cosine 1/2.
    expect(similarity(embedDocument('abcde fghij'), embedDocument('abcde vwxyz'))).toBeCloseTo(0.5, 1)
  })

  test.each([
    ['a word of the text', 'turbulent'],
    ['a misspelt word', 'turbulant'],
    ['swapped letters', 'transiiton'],
    ['another form', 'measuring'],
    ['part of a compound', 'boundaries'],
  ])('rises above chance for %s', (_, query) => {
    expect(similarity(ask(query), embedDocument(text))).toBeGreaterThan(noiseLevel)
  })

  test.each(['refund policy', 'quarterly revenue of the company', '黑豹队', 'Öffnungszeiten'])(
    'stays within chance for what has nothing to do with the text: %s',
    query => {
      expect(Math.abs(similarity(ask(query), embedDocument(text)))).toBeLessThan(noiseLevel)
    },
  )

  test('follows the weight of the words', () => {
    const favouring = (word: string) => ask('turbulent refund', term => (term === word ? 5 : 1))
    const document = embedDocument(text)
    expect(similarity(favouring('turbulent'), document)).toBeGreaterThan(
      similarity(favouring('refund'), document),
    )
  })

  test('does not come from a short word inside a longer one', () => {
    expect(Math.abs(similarity(embedDocument('art'), embedDocument('cartography')))).toBeLessThan(noiseLevel)
  })

  test('is not drowned by what a text repeats', () => {
    expect(similarity(embedDocument(`${'abcde '.repeat(20)} fghij`), embedDocument('fghij'))).toBeGreaterThan(
      0.2,
    )
  })

  test('knows pieces of text without spaces as wholes', () => {
    expect(similarity(ask('防守'), embedDocument('黑豹队的防守'))).toBeGreaterThan(noiseLevel)
  })
})

test('a query without terms has no vector', () => {
  expect(embedQuery([], () => 1)).toBeUndefined()
})
