/** What the full-text index keeps of a text, in the words of PostgreSQL's types `tsvector` and `tsquery`. */
import { stemmer } from 'stemmer'

/** What words are made of, as in the embedded databases; so nothing in a lexeme is an operator. */
const noWord = /[^\p{L}\p{N}\p{M}\p{Co}]+/gu

/** Characters of the words that have a stem. */
const [shortestWord, longestWord] = [3, 64]

/** Bytes: what a lexeme may have, with room for its frequency, and less than all lexemes of a text may have together. */
export const longestLexeme = 2044
const longestVector = 1_000_000
/** Bytes that a lexeme takes beside its own, at most. */
const overhead = 8

/**
 * How often a lexeme stands in a text is part of its form in the index: there are four of them. Most lexemes of a passage
 * stand in it once, and the more often one does, the less another time counts.
 */
export const frequencies = [1, 2, 3, 5] as const
type Frequency = (typeof frequencies)[number]

/** The lexeme as the index holds it for chunks in which it stands so often; no lexeme has a space of its own. */
export function formOf(lexeme: string, frequency: Frequency): string {
  return frequency === 1 ? lexeme : `${lexeme} ${frequency}`
}

const encoder = new TextEncoder()
const room = new Uint8Array(longestLexeme)

/** The form by which a term is kept and looked for; empty where nothing of it is part of a word. */
export function lexemeOf(term: string): string {
  const word = term.replace(noWord, '')
  if (word.length >= shortestWord && word.length <= longestWord) return stemmer(word)
  return word.slice(0, encoder.encodeInto(word, room).read)
}

export interface IndexedText {
  /** A value of the type `tsvector`. */
  terms: string
  /** Number of terms, with repeats. */
  length: number
}

/** @param text terms, with spaces between them. */
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

/** Of a text with more lexemes than a vector can hold the first ones. */
function vectorOf(counts: ReadonlyMap<string, number>): string {
  const entries: string[] = []
  let bytes = 0
  for (const [lexeme, count] of counts) {
    bytes += Buffer.byteLength(lexeme) + overhead
    if (bytes > longestVector) break
    entries.push(quoted(formOf(lexeme, frequencyOf(count))))
  }
  return entries.join(' ')
}

function frequencyOf(count: number): Frequency {
  if (count > 3) return 5
  return count === 1 ? 1 : count === 2 ? 2 : 3
}

/** A lexeme as a value of the type `tsquery`, or within one. */
export function quoted(lexeme: string): string {
  return `'${lexeme.replace(/['\\]/g, '$&$&')}'`
}
