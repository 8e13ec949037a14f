import { describe, expect, test } from 'vitest'
import { isPiece, queryTerms, searchableText, termsOf } from './text-analysis.ts'

describe('terms of a text', () => {
  test.each([
    ['words in lower case, without punctuation', 'The Quick, brown-fox: 3.14!', 'the quick brown fox 3 14'],
    [
      'without accents, however they are encoded',
      'Café Cafe\u0301 Über Łódź Ångström',
      'cafe cafe uber łodz angstrom',
    ],
    ['sharp s as it is typed without it', 'Straße STRASSE', 'strasse strasse'],
    ['compatibility forms as the letters they show', 'ﬁne ＡＢＣ ①', 'fine abc 1'],
    ['without English endings', "What’s the dog’s? He doesn't", 'what the dog he doesn'],
    ['one form of a Greek sigma', 'ΣΙΣΥΦΟΣ Σίσυφος', 'σισυφοσ σισυφοσ'],
    ['Arabic without vowels, tatweel, article and endings', 'والكِتَاب الكتـــاب كتابها', 'كتاب كتاب كتاب'],
    [
      'Arabic letters that are written for one another',
      'أحمد إحمد آحمد ٱحمد مدرسة مدرسه',
      'احمد احمد احمد احمد مدرس مدرس',
    ],
    ['digits of any script', '١٢٣ ۴۵', '123 45'],
    ['Hindi words with their vowel signs', 'हिन्दी भाषा', 'हिन्दी भाषा'],
    ['Chinese as pairs of characters', '黑豹队的防守', '黑豹 豹队 队的 的防 防守'],
    ['Japanese as pairs, with the long vowel mark', 'データ', 'デー ータ'],
    ['Korean as pairs', '한국어', '한국 국어'],
    ['a single character', '茶', '茶'],
    ['words beside characters', 'NFL球队2016年', 'nfl 球队 2016 年'],
    ['characters beyond the basic plane', '𠜎𠜱𠝹', '𠜎𠜱 𠜱𠝹'],
    ['Thai by its dictionary', 'ประเทศไทย', 'ประเทศไทย'],
    ['nothing from symbols', '♥ … "" -- 🙂', ''],
    ['nothing from half a character', '\ud800', ''],
  ])('%s', (_, text, terms) => {
    expect(termsOf(text).join(' ')).toBe(terms)
  })

  test('Thai words that have no space between them are told apart', () => {
    expect(termsOf('ฉันรักภาษาไทย')).toEqual(['ฉัน', 'รัก', 'ภาษา', 'ไทย'])
  })

  test('are the same in a text that was normalised in another way', () => {
    const text = 'Größe café データ 한국어 أحمد'
    expect(termsOf(text.normalize('NFD'))).toEqual(termsOf(text))
  })
})

test('the index takes each different character once beside the pairs', () => {
  expect(searchableText('喝茶 tea 喝茶')).toBe('喝茶 tea 喝茶 喝 茶')
})

describe('terms of a query', () => {
  test.each([
    ['leave out stop words', 'What is the refund policy?', 'refund policy'],
    [
      'in several languages',
      'Wie viele Punkte gab die Verteidigung ab?',
      'viele punkte gab die verteidigung ab',
    ],
    ['that are written with accents', 'für où über', 'fur ou uber'],
    ['that have an article', 'ما هو الذي إلى العاصمة', 'عاصم'],
    ['keep words that only another language takes for stop words', 'war, men, pour', 'war men pour'],
    ['come once each', 'tea tea TEA time', 'tea time'],
    ['are stop words if there is nothing else', 'to be or not to be', 'to be or not'],
    ['may be none', '?!', ''],
  ])('%s', (_, query, terms) => {
    expect(queryTerms(query).join(' ')).toBe(terms)
  })
})

test('pieces are told from words', () => {
  expect(['黑豹', '국어', 'データ', 'panther', 'كتاب', 'ภาษา'].map(isPiece)).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
  ])
})
