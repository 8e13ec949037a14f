/**
 * Finds the exact parts of a query: codes, dates, names with a single letter, words in capitals and quoted
 * phrases. A chunk with one ranks before those with only its words, which look the same by words and vectors.
 */
import { nameOf, type Spelling, spelled, spellingsOf } from '#models/text-analysis/spellings.ts'
import { isStopWord, termsOf } from '#models/text-analysis/text-analysis.ts'
import type { Scored } from './fusion.ts'

/** The text of a chunk, unchanged and in the form of `spelled`. */
interface Content {
  raw: string
  plain: string
}

export interface Exact {
  /** The term in the index, if there is one. */
  term?: string
  /** The words of the query in it. */
  words: string[]
  /** Letters and digits that chunks might separate by a space, as in "KX 40". */
  parts: string[]
  /** Returns 1 for the written form in a chunk, less for another spelling, 0 for neither. */
  heldBy(content: Content): number
}

const asOtherSpelling = 0.5

/** Max exact parts, and max characters at the beginning and end of a long text, such as a pasted log. */
const maxSpellings = 16
const maxCharacters = 2_000

export function exactSpellings(text: string): Exact[] {
  const query =
    text.length > 2 * maxCharacters ? `${text.slice(0, maxCharacters)}\n${text.slice(-maxCharacters)}` : text

  const spellings = [...spellingsOf(query), ...singleLetters(query), ...spacedCodes(query)]
  const byTerm = new Map(spellings.map(spelling => [spelling.term, spelling]))
  const dates = new Set(spellings.filter(({ kind }) => kind === 'date').map(({ written }) => written))
  const ofDates = [...dates].map(written => exactDate(spellings.filter(date => date.written === written)))
  const others = [...byTerm.values()].filter(({ kind }) => kind !== 'date').map(exactSpelling)
  return [...phrases(query), ...ofDates.flat(), ...others, ...capitals(query)].slice(0, maxSpellings)
}

/** Returns the terms to look up in addition to the query's terms. */
export function lookedUpFor(exact: readonly Exact[]): string[] {
  return exact.flatMap(({ term, parts }) => (term === undefined ? [] : [term, ...parts]))
}

function exactDate(readings: readonly Spelling[]): Exact[] {
  const terms = new Set(readings.map(({ term }) => term))
  const heldBy = ({ raw }: Content) =>
    spellingsOf(raw).some(({ kind, term }) => kind === 'date' && terms.has(term)) ? 1 : 0
  const words = readings.flatMap(({ written }) => termsOf(written))
  return [...terms].map(term => ({ term, words, parts: [], heldBy }))
}

const separator = '[-/.,_&\\s]'

function exactSpelling({ written, term, kind }: Spelling): Exact {
  const asWritten = bounded(
    RegExp.escape(written)
      .replace(/\\x2c|\\\.|,/g, '[.,]')
      .replace(/ |\\x20/g, '[\\s-]'),
  )
  const characters = /^[\p{L}\p{N}]{3,}$/u.test(term) && kind === 'code' ? [...term] : []
  const otherwise =
    characters.length === 0
      ? undefined
      : new RegExp(`(?<![\\p{L}\\p{N}])${characters.join(`${separator}?`)}(?![\\p{L}\\p{N}])`, 'u')
  const [, letters, digits] = /^(\p{L}{1,5})(\d{2,})/u.exec(written) ?? []
  return {
    term,
    words: termsOf(written),
    parts: letters === undefined || digits === undefined ? [] : [letters, digits],
    heldBy: ({ plain }) => (asWritten.test(plain) ? 1 : otherwise?.test(plain) ? asOtherSpelling : 0),
  }
}

/** Matches a pattern outside of longer codes, which would be other codes. */
function bounded(pattern: string): RegExp {
  const before = '(?<![\\p{L}\\p{N}]|[\\p{L}\\p{N}][-/._+#]|\\d,)'
  const after = '(?![\\p{L}\\p{N}+#]|[-/._&][\\p{L}\\p{N}]|,\\d)'
  return new RegExp(`${before}${pattern}${after}`, 'u')
}

const single = /(?<![\p{L}\p{N}'’./+#-])(?:(\p{L}{2,})[\s-])?(\p{L})(?![\p{L}\p{N}'’+#]|[-/.][\p{L}\p{N}])/gu

/** Returns single letters. Letters that can be words count only at the end or as capitals, not alone. */
function singleLetters(query: string): Spelling[] {
  return Array.from(query.matchAll(single)).flatMap(([whole, word = '', letter = ''], at, all) => {
    const isName = word !== '' && !isStopWord(word.toLowerCase())
    const isEnd =
      at === all.length - 1 && /^[\s?!.]*$/.test(query.slice((all[at]?.index ?? 0) + whole.length))
    const isVowel = /[aeiouyàáéèóú]/i.test(letter)
    const isCapital = letter !== letter.toLowerCase()
    if (isVowel && !(isEnd ? isName || isCapital : isName && isCapital)) return []
    if (isName) return [nameOf(word, letter)]
    const written = spelled(letter)
    return [{ written, term: written, kind: 'name' }]
  })
}

const spaced =
  /(?<![\p{L}\p{N}])(?:\p{L}{1,3}|(?=[\p{L}\p{N}]*\d)[\p{L}\p{N}]+)(?: (?=[\p{L}\p{N}]*\d)[\p{L}\p{N}]+)+(?![\p{L}\p{N}])/gu

/** Returns codes with spaces, such as "A 1234 5" and "KX 40". */
function spacedCodes(query: string): Spelling[] {
  return Array.from(query.matchAll(spaced), ([match]) => match)
    .filter(match => {
      const [first = ''] = match.split(' ')
      return !(isStopWord(first.toLowerCase()) && first !== first.toUpperCase())
    })
    .map(match => spelled(match))
    .map(written => ({ written, term: written.replaceAll(' ', ''), kind: 'code' as const }))
    .filter(({ term }) => !/^\d{1,4}$/.test(term))
}

const quoted =
  /(?<![\p{L}\p{N}])["“”„«»]\s?([^\s"“”„«»](?:[^"“”„«»]{0,200}[^\s"“”„«»])?)\s?["“”«»](?![\p{L}\p{N}])/gu

function phrases(query: string): Exact[] {
  return Array.from(query.matchAll(quoted), ([, phrase = '']) => {
    const pattern = bounded(
      spelled(phrase)
        .split(/\s+/)
        .map(word => RegExp.escape(word))
        .join('[\\s-]+'),
    )
    return { words: [], parts: [], heldBy: ({ plain }: Content) => (pattern.test(plain) ? 1 : 0) }
  })
}

/** Returns words such as "IT" and "WHO", which in lower case carry no subject. */
function capitals(query: string): Exact[] {
  if (query === query.toUpperCase()) return []
  const names = query.match(/(?<![\p{L}\p{N}-])\p{Lu}{2,4}(?![\p{L}\p{N}-])/gu) ?? []
  return names
    .filter(name => isStopWord(name.toLowerCase()))
    .map(name => {
      const pattern = new RegExp(`(?<![\\p{L}\\p{N}])${name}(?![\\p{L}\\p{N}])`, 'u')
      return { term: spelled(name), words: [], parts: [], heldBy: ({ raw }) => (pattern.test(raw) ? 1 : 0) }
    })
}

/**
 * Returns the query's terms in the index. If chunks contain a code in another spelling, it replaces those of
 * its words that no chunk contains.
 */
export function knownBy(
  terms: readonly string[],
  exact: readonly Exact[],
  isHeld: (term: string) => boolean,
): string[] {
  const inPlace = exact.map(({ term, words, parts }) => {
    if (term !== undefined && isHeld(term)) return { words, held: [term] }
    return { words: parts.length > 0 && parts.every(isHeld) ? words : [], held: parts.filter(isHeld) }
  })
  const covered = new Set(inPlace.flatMap(({ words }) => words))
  const others = terms.filter(term => isHeld(term) || !covered.has(term))
  return [...new Set([...others, ...inPlace.flatMap(({ words, held }) => (words.length > 0 ? held : []))])]
}

/** The share of the score of a chunk without any of the exact parts. */
const minShare = 0.7

/**
 * Sorts chunks by their number of exact parts, otherwise in their order. Scores are strictly higher with more
 * of them, and don't increase down the list.
 */
export function exactFirst(
  ordered: readonly Scored[],
  exact: readonly Exact[],
  contentOf: (sequence: number) => string | undefined,
): Scored[] {
  const rated = ordered.map(({ sequence, score }) => {
    const raw = contentOf(sequence) ?? ''
    const content = { raw, plain: spelled(raw) }
    const total = exact.reduce((sum, one) => sum + one.heldBy(content), 0)
    const share = minShare + ((1 - minShare) * total) / exact.length
    return { sequence, score: score * share, share }
  })
  let below = { score: 0, share: 1 }
  return rated
    .sort((one, other) => other.share - one.share)
    .reverse()
    .map(({ sequence, score, share }) => {
      const minScore = share === below.share ? below.score : (below.score * share) / below.share
      below = { score: Math.max(score, minScore), share }
      return { sequence, score: below.score }
    })
    .reverse()
}
