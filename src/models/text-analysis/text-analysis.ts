/**
 * Splits a text for searching, alike for documents and queries. Words of scripts with spaces stay whole (the
 * full-text index stems them); Chinese, Japanese and Korean become pairs of characters, like in Lucene's CJK
 * analyser, because no dictionary knows every name; Thai and its neighbours are split by dictionaries.
 */

import { normalizedText } from '#platform/normalized-text.ts'
import { germanStem, isGerman } from './german.ts'

/**
 * Marks that people leave out when they type: accents, Hebrew points, Arabic vowels and hamzas, tatweel; and
 * invisible characters in a word, above all its optional hyphens.
 */
const optionalMarks = /[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u00ad\u2060\ufeff]/g

/** Letters that are written for one another. */
const variants = new Map([
  ['ß', 'ss'],
  ['ς', 'σ'],
  ['ٱ', 'ا'],
  ['ى', 'ي'],
  ['ی', 'ي'],
  ['ة', 'ه'],
  ['ک', 'ك'],
])
const variantLetters = new RegExp(`[${[...variants.keys()].join('')}]`, 'g')

/** Letters that most keyboards lack, with replacements. The Turkish ı becomes i via its capital, too. */
const plainLetters = new Map([
  ['ł', 'l'],
  ['đ', 'd'],
  ['ø', 'o'],
  ['ı', 'i'],
  ['æ', 'ae'],
  ['œ', 'oe'],
  ['ð', 'd'],
  ['þ', 'th'],
  ['ħ', 'h'],
])
const rareLetter = new RegExp(`[${[...plainLetters.keys()].join('')}]`)
const rareLetters = new RegExp(rareLetter, 'g')

/** Digits whose code ends with the digit's value. */
const arabicDigits = /[\u0660-\u0669\u06f0-\u06f9]/g

/** Endings such as in "don’t" and "what’s", which carry no meaning. */
const englishEndings = /(?<=\p{L})['’](?:s|t|d|m|ll|re|ve)(?!\p{L})/gu

/** Parts that Arabic writes together with a word: article and particles before it, endings after it (the "light10" stemmer). */
const arabicPrefix = /^(?:[وبكف]?ال|لل)(?=\p{L}{2})/u
const arabicSuffix = /(?<=\p{Script=Arabic}{3})(?:ها|ان|ات|ون|ين|يه|ه|ي)$/u

const paired = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}ー'
const pairedScript = new RegExp(`[${paired}]`, 'u')
const unspacedScript = /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u
const runs = new RegExp(`[${paired}]+|(?:(?![${paired}])[\\p{L}\\p{N}\\p{M}\\uebe0-\\uebe2])+`, 'gu')
/** Matches scripts that need splitting: most texts have none of them, and are not examined word by word. */
const cutScript = new RegExp(`[${paired}\\p{Script=Arabic}]|${unspacedScript.source}`, 'u')
/** Words; the private characters are those of `spellings.ts`. */
const words = /[\p{L}\p{N}\p{M}\uebe0-\uebe2]+/gu
const dictionaries = new Intl.Segmenter('th', { granularity: 'word' })

/**
 * Frequent words without a subject. A word with a meaning in another of these languages is missing ("war" and
 * "die" are German function words, too) because a query does not name its language.
 */
const stopWords = new Set(
  termsOf(`
  a about after again all also am an and any are as at be because been before being between both but by can could did do
  does doing don down during each for from further had has have having he her here hers him his how i if in into is isn it
  its itself just me might more most must my no nor not now of off on once only or other our out over own same shall she
  should so some such than that the their them then there these they this those through to too under until up upon us very
  was we were what when where which while who whom whose why will with within without would you your
  aber alle als auf aus bei beim bis bist da damit dann das dass dem deren der des dessen diese diesem diesen dieser dieses
  doch durch ein eine einem einen einer eines er es etwas für gibt hatte hatten ich ihm ihn ihr ihre im ist jede jeder
  jedes kann kein keine können mehr mein mit nach nicht nur oder ohne sehr sein seine sich sie sind über um und uns unter
  vom von vor waren warum welche welchem welchen welcher welches wenn wer werden wie wieder wir wird wurde wurden zu zum zur
  au aux avec ce ces cette dans du elle elles en est et etait il ils je la le les leur leurs lui mais nous ou par pas plus
  qu que quel quelle quelles quels qui quoi sa se ses si sont sur un une vous
  al como con cual cuales cuando de del donde el ella ellas ellos entre esta este esto fue hay las lo los mas muy para pero
  por porque quien su sus y
  في من على عن مع هو هي هم هذا هذه ذلك تلك التي الذي الذين ما ماذا متى أين كيف كم هل لماذا لم لن لا أن إن كان كانت قد كل
  بعد قبل بين أو ثم حيث عند غير أي إلى`),
)

export function isStopWord(term: string): boolean {
  return stopWords.has(term)
}

/** True if a term is a piece of text from a script without spaces, not a word. */
export function isPiece(term: string): boolean {
  return pairedScript.test(term)
}

/** Returns a text's terms in order, repeated, in lower case, without the marks that people leave out. */
export function termsOf(text: string): string[] {
  return analyse(text).terms
}

/** Returns the terms, with letters that most keyboards lack in plain ones. */
export function plainTermsOf(text: string): string[] {
  return termsOf(text).map(inPlainLetters)
}

/** Returns the terms of the full-text index for a text, separated by spaces. */
export function searchableText(text: string): string {
  return searchable(analyse(text))
}

/** Returns the terms and the searchable text from one analysis. */
export function termsAndSearchableText(text: string): { terms: string[]; searchable: string } {
  const analysis = analyse(text)
  return { terms: analysis.terms, searchable: searchable(analysis) }
}

interface Analysis {
  terms: string[]
  /** The terms in the full-text index, which can be more. */
  indexed: string[]
}

function analyse(text: string): Analysis {
  const plain = plainText(text)
  if (!cutScript.test(plain)) {
    const terms = plain.match(words) ?? []
    return { terms, indexed: terms }
  }
  const found = plain.match(runs) ?? []
  const terms = found.flatMap(cut)
  return { terms, indexed: [...terms, ...differentCharacters(found.filter(isPiece))] }
}

/** Returns the indexed text. Other forms are beside a term: texts indexed without them are still found. */
function searchable({ indexed }: Analysis): string {
  const text = indexed.join(' ')
  if (isGerman(indexed))
    return besides(indexed, term => [inPlainLetters(term), germanStem(inPlainLetters(term))])
  return rareLetter.test(text) ? besides(indexed, term => [inPlainLetters(term)]) : text
}

function besides(terms: readonly string[], formsOf: (term: string) => string[]): string {
  return terms.flatMap(term => [...new Set([term, ...formsOf(term)])]).join(' ')
}

function inPlainLetters(term: string): string {
  return term.replace(rareLetters, letter => plainLetters.get(letter) ?? letter)
}

/** Returns a function from a query's term to its indexed form: in plain letters, and a German one's stem. */
export function formFor(query: string): (term: string) => string {
  return isGerman(termsOf(query)) ? term => germanStem(inPlainLetters(term)) : inPlainLetters
}

/** Returns the distinct terms of a query, in order; stop words are included only if there are no others. */
export function queryTerms(query: string): string[] {
  const terms = [...new Set(termsOf(query))]
  const content = terms.filter(term => !isStopWord(term))
  return content.length > 0 ? content : terms
}

/** Returns a text in lower case, without the marks that people leave out. */
export function plainText(text: string): string {
  const bare = normalizedText(text, 'NFKD').toLowerCase().replace(optionalMarks, '')
  return normalizedText(bare, 'NFC')
    .replace(variantLetters, letter => variants.get(letter) ?? letter)
    .replace(arabicDigits, digit => String(digit.charCodeAt(0) & 0xf))
    .replace(englishEndings, '')
}

function cut(run: string): string[] {
  if (isPiece(run)) return pairsOf(run)
  if (unspacedScript.test(run)) {
    return Array.from(dictionaries.segment(run), ({ segment }) => segment)
  }
  return [run.replace(arabicPrefix, '').replace(arabicSuffix, '')]
}

/** Returns the pairs of a run; a run of one character is its own only term. */
function pairsOf(run: string): string[] {
  const characters = [...run]
  if (characters.length === 1) return characters
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`)
}

/**
 * Returns the single characters, so that a query of one character finds them: each once because a longer
 * chunk would rank lower than those of other scripts.
 */
function differentCharacters(runs: readonly string[]): Set<string> {
  return new Set(runs.join(''))
}
