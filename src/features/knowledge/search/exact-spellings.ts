/**
 * Of a query: codes, dates, names with a single letter, words in capitals and quoted phrases. A chunk that holds one as it is
 * written ranks before those that hold only its words, which the rankings by words and vectors cannot tell apart.
 */
import type { Spelling } from '#models/text-analysis/spellings.ts'
import { nameOf, spelled, spellingsOf } from '#models/text-analysis/spellings.ts'
import { isStopWord, termsOf } from '#models/text-analysis/text-analysis.ts'
import type { Scored } from './fusion.ts'

/** The text of a chunk, as it is and as `spelled` makes it. */
interface Content {
  raw: string
  plain: string
}

export interface Exact {
  /** Its term in the index, if it has one. */
  term?: string
  /** The words of the query that it is made of. */
  words: string[]
  /** Its letters and digits, where a chunk may have a space between them, as in "KX 40". */
  parts: string[]
  /** 1 as it is written, less in another spelling, 0 if a chunk does not hold it. */
  heldBy(content: Content): number
}

const asOtherSpelling = 0.5

/** Of a long text, such as a pasted log, only the first ones at its beginning and its end are looked at. */
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

/** The terms to look up for them, beside those of the query. */
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

/** What is part of a longer code is another one. */
function bounded(pattern: string): RegExp {
  const before = '(?<![\\p{L}\\p{N}]|[\\p{L}\\p{N}][-/._+#]|\\d,)'
  const after = '(?![\\p{L}\\p{N}+#]|[-/._&][\\p{L}\\p{N}]|,\\d)'
  return new RegExp(`${before}${pattern}${after}`, 'u')
}

const single = /(?<![\p{L}\p{N}'’./+#-])(?:(\p{L}{2,})[\s-])?(\p{L})(?![\p{L}\p{N}'’+#]|[-/.][\p{L}\p{N}])/gu

/** Letters that are words of their own count where they end a query or are capital; alone, they are taken for words. */
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

/** As in "A 1234 5" and "KX 40". */
function spacedCodes(query: string): Spelling[] {
  return Array.from(query.matchAll(spaced), ([given]) => given)
    .filter(given => {
      const [first = ''] = given.split(' ')
      return !(isStopWord(first.toLowerCase()) && first !== first.toUpperCase())
    })
    .map(given => spelled(given))
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

/** Words such as "IT" and "WHO", which in small letters carry no subject. */
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
 * The terms by which a query is known to an index. Where chunks hold a code in another spelling, that stands for its words that no
 * chunk holds.
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

/** The share of a score that a chunk keeps which holds none of them. */
const leastShare = 0.7

/**
 * Chunks by how many of the spellings they hold, otherwise in their order. Scores are strictly higher with more of them, and
 * don't increase down the list.
 */
export function exactFirst(
  ordered: readonly Scored[],
  exact: readonly Exact[],
  contentOf: (sequence: number) => string | undefined,
): Scored[] {
  const rated = ordered.map(({ sequence, score }) => {
    const raw = contentOf(sequence) ?? ''
    const content = { raw, plain: spelled(raw) }
    const held = exact.reduce((sum, one) => sum + one.heldBy(content), 0)
    const share = leastShare + ((1 - leastShare) * held) / exact.length
    return { sequence, score: score * share, share }
  })
  let below = { score: 0, share: 1 }
  return rated
    .sort((one, other) => other.share - one.share)
    .reverse()
    .map(({ sequence, score, share }) => {
      const least = share === below.share ? below.score : (below.score * share) / below.share
      below = { score: Math.max(score, least), share }
      return { sequence, score: below.score }
    })
    .reverse()
}
