import { describe, expect, test } from 'vitest'
import { germanStem, isGerman } from './german.ts'
import { formFor, searchableText, termsOf } from './text-analysis.ts'

test.each([
  [['preis', 'preise', 'preisen', 'preises'], 'preis'],
  [['hund', 'hunde', 'hunden', 'hundes', 'hunds'], 'hund'],
  [['kindern', 'kinder'], 'kind'],
  [['kundigungsfristen', 'kundigungsfrist'], 'kundigungsfrist'],
])('the forms %j have one stem', (forms, stem) => {
  expect(forms.map(germanStem)).toEqual(forms.map(() => stem))
})

test.each(['eis', 'haus', 'bus', 'meer', 'eine', 'b2en', '防守', 'wetterbericht', 'жизнь'])(
  '%s stays as it is',
  term => {
    expect(germanStem(term)).toBe(term)
  },
)

describe('a text', () => {
  test.each([
    ['Wie hoch sind die Preise für Strom?', true],
    ['Der Vertrag wird mit der Zahlung wirksam.', true],
    ['What is the price of power?', false],
    ['The Blitz and the Wehrmacht in the war', false],
    ['World War casualties', false],
    ['Strompreise', false],
    ['', false],
  ])('%j is German: %s', (text, expected) => {
    expect(isGerman(termsOf(text))).toBe(expected)
  })

  test('in German stands in the index with its words and their stems, any other as it is', () => {
    expect(searchableText('Die Preise und der Preis sind hoch')).toBe(
      'die preise preis und der preis sind hoch',
    )
    expect(searchableText('Prices of wines')).toBe('prices of wines')
  })

  test('in German asks for stems, any other for its words', () => {
    expect(['preisen', 'strom'].map(formFor('Welche von den Preisen für Strom'))).toEqual(['preis', 'strom'])
    expect(['preisen'].map(formFor('Preisen'))).toEqual(['preisen'])
  })
})
