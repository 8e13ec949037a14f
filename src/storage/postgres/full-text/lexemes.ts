/** The full-text index's form of a text, as values of PostgreSQL's types `tsvector` and `tsquery`. */
import { stemmer } from 'stemmer'

/** The characters of words, as in the embedded databases; so a lexeme never contains an operator. */
const noWord = /[^\p{L}\p{N}\p{M}\p{Co}]+/gu

/** Lengths of the words that are stemmed, in characters. */
const [minWordLength, maxWordLength] = [3, 64]

/**
 * Max bytes of a lexeme, with room left for its frequency, and of all lexemes of a text together, below the
 * server's limit.
 */
export const maxLexemeLength = 2044
const maxVectorLength = 1_000_000
/** Max bytes that a lexeme takes in addition to its own. */
const overhead = 8

/**
 * The frequency of a lexeme in a text is part of its form in the index; there are four such forms. Most lexemes occur
 * once in a passage, and each further occurrence counts less.
 */
export const frequencies = [1, 2, 3, 5] as const
type Frequency = (typeof frequencies)[number]

/** Returns the index's form of the lexeme for chunks with this frequency; lexemes contain no spaces. */
export function formOf(lexeme: string, frequency: Frequency): string {
  return frequency === 1 ? lexeme : `${lexeme} ${frequency}`
}

const encoder = new TextEncoder()
const room = new Uint8Array(maxLexemeLength)

/** Returns the form in which a term is stored and looked up; empty if no part of it belongs to a word. */
export function lexemeOf(term: string): string {
  const word = term.replace(noWord, '')
  if (word.length >= minWordLength && word.length <= maxWordLength) return stemmer(word)
  return word.slice(0, encoder.encodeInto(word, room).read)
}

export interface IndexedText {
  /** A value of the type `tsvector`. */
  terms: string
  /** Number of terms, including repetitions. */
  length: number
}

/** @param text terms, separated by spaces. */
export function indexedText(text: string): IndexedText {
  const counts = new Map<string, number>()
  let length = 0
  for (const term of text.split(' ')) {
    const lexeme = lexemeOf(term)
    if (lexeme === '') continue
    length += 1
    counts.set(lexeme, (counts.get(lexeme) ?? 0) + 1)
  }
  return { terms: vectorOf(counts), length }
}

/** Returns the vector of a text, with only the first lexemes if there are more than it can have. */
function vectorOf(counts: ReadonlyMap<string, number>): string {
  const entries: string[] = []
  let bytes = 0
  for (const [lexeme, count] of counts) {
    bytes += Buffer.byteLength(lexeme) + overhead
    if (bytes > maxVectorLength) break
    entries.push(quoted(formOf(lexeme, frequencyOf(count))))
  }
  return entries.join(' ')
}

function frequencyOf(count: number): Frequency {
  if (count > 3) return 5
  return count === 1 ? 1 : count === 2 ? 2 : 3
}

/** Returns a lexeme as a value of the type `tsquery`, or as part of one. */
export function quoted(lexeme: string): string {
  return `'${lexeme.replace(/['\\]/g, '$&$&')}'`
}
