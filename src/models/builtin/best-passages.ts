import type { Passage } from '../language-model/passages.ts'
import { isStopWord, plainTermsOf } from '../text-analysis/text-analysis.ts'
import { likenessTo } from './likeness.ts'

/** A passage that matches a question, with the part of it that matches best. */
export interface FittingPassage {
  passage: Passage
  quote: string
  /** The share of the question's words that the quote contains, 0 to 1. */
  coverage: number
}

/** Max length of a quote in characters. */
const quoteLength = 700
/** Max length in characters of the pieces of a quote: sentences, or parts of very long ones. */
const pieceLength = 250
/** Max words of a question that are considered: a pasted page is a question too. */
const questionWords = 40
/** Max characters of a question that are read: with some letters, splitting takes superlinear time. */
const questionCharacters = 4000
const quotedPassages = 3

interface Piece {
  text: string
  /** The similarity of each word of the question to the most similar word of the piece. */
  likeness: number[]
}

/**
 * Returns the passages that share content words with the question, best first, three at most. Rare words
 * count more than words in every sentence; ties keep the order of the search.
 */
export function bestPassages(question: string, passages: readonly Passage[]): FittingPassage[] {
  const words = contentWordsOf(question)
  const compare = comparison(words)
  const pieced = passages.map(passage => ({
    passage,
    pieces: piecesOf(passage.text).map(text => ({ text, likeness: compare(text) })),
  }))
  const weights = weightsOf(
    words.length,
    pieced.flatMap(({ pieces }) => pieces),
  )

  const fitting = pieced.flatMap(({ passage, pieces }, rank) => {
    const best = bestQuote(pieces, weights)
    if (best === undefined) return []
    return [
      { passage, quote: best.quote, coverage: best.coverage, score: best.score * (1 + 0.2 / (rank + 1)) },
    ]
  })
  fitting.sort((one, other) => other.score - one.score)
  const minScore = (fitting[0]?.score ?? 0) * 0.6
  return withoutRepeats(fitting.filter(({ score }) => score >= minScore))
    .slice(0, quotedPassages)
    .map(({ passage, quote, coverage }) => ({ passage, quote, coverage }))
}

/** Returns the distinct content words of a question. */
export function contentWordsOf(question: string): string[] {
  return [...new Set(plainTermsOf(question.slice(0, questionCharacters)))]
    .filter(word => !isStopWord(word))
    .slice(0, questionWords)
}

/** Returns a function that compares texts with the question's words; each pair of words is compared once. */
function comparison(words: readonly string[]): (text: string) => number[] {
  const likeness = likenessTo(words)
  const known = new Map<string, number[]>()
  return text => {
    const best = words.map(() => 0)
    for (const word of new Set(plainTermsOf(text))) {
      let row = known.get(word)
      if (row === undefined) {
        row = likeness(word)
        known.set(word, row)
      }
      row.forEach((value, index) => {
        if (value > (best[index] ?? 0)) best[index] = value
      })
    }
    return best
  }
}

/** Returns the inverse frequency of each word of the question among the pieces. */
function weightsOf(words: number, pieces: readonly Piece[]): number[] {
  return Array.from({ length: words }, (_, index) => {
    const holding = pieces.filter(piece => (piece.likeness[index] ?? 0) > 0).length
    return Math.log(1 + pieces.length / (1 + holding))
  })
}

/** Returns the best-matching run of pieces, with its surroundings; undefined if no piece matches at all. */
function bestQuote(pieces: readonly Piece[], weights: readonly number[]) {
  let best: { start: number; end: number; score: number; coverage: number } | undefined
  for (let start = 0; start < pieces.length; start++) {
    for (let end = start + 1; end <= Math.min(start + 3, pieces.length); end++) {
      const run = pieces.slice(start, end)
      if (end > start + 1 && lengthOf(run) > quoteLength) break
      const fit = fitOf(run, weights)
      if (fit.score > (best?.score ?? 0)) best = { start, end, ...fit }
    }
  }
  if (best === undefined) return undefined
  const { start, end } = grown(best, pieces)
  const quote = pieces
    .slice(start, end)
    .map(piece => piece.text)
    .join(' ')
  return {
    quote: `${start > 0 ? '…' : ''}${quote}${end < pieces.length ? '…' : ''}`,
    score: best.score,
    coverage: best.coverage,
  }
}

function fitOf(run: readonly Piece[], weights: readonly number[]): { score: number; coverage: number } {
  const likest = weights.map((_, index) => Math.max(...run.map(piece => piece.likeness[index] ?? 0)))
  const score = likest.reduce((sum, value, index) => sum + value * (weights[index] ?? 0), 0)
  // The shortest of equally good runs: each further piece must add something.
  return {
    score: score * 0.95 ** (run.length - 1),
    coverage: likest.filter(value => value > 0).length / weights.length,
  }
}

/**
 * Extends a run to the text after it, then before it, as long as there is room: an answer often continues
 * after the match.
 */
function grown({ start, end }: { start: number; end: number }, pieces: readonly Piece[]) {
  const fits = (from: number, to: number) => lengthOf(pieces.slice(from, to)) <= quoteLength
  let [from, to] = [start, end]
  while (to < pieces.length && fits(from, to + 1)) to++
  while (from > 0 && fits(from - 1, to)) from--
  return { start: from, end: to }
}

function lengthOf(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, piece) => sum + piece.text.length + 1, 0)
}

const sentences = new Intl.Segmenter('und', { granularity: 'sentence' })

/** Returns the sentences of a text, each on one line, very long ones split between words. */
function piecesOf(text: string): string[] {
  return Array.from(sentences.segment(text), ({ segment }) => segment.replace(/\s+/g, ' ').trim())
    .filter(sentence => sentence !== '')
    .flatMap(sentence => (sentence.length > pieceLength ? cut(sentence) : [sentence]))
}

function cut(sentence: string): string[] {
  return sentence.match(new RegExp(`\\S.{0,${pieceLength - 1}}(?!\\S)|\\S{1,${pieceLength}}`, 'gsu')) ?? []
}

/** Removes quotes that are part of a better one of the same source: chunks overlap. */
function withoutRepeats<Fitting extends FittingPassage>(fitting: readonly Fitting[]): Fitting[] {
  const bare = ({ quote }: Fitting) => quote.replaceAll('…', '')
  return fitting.filter(
    (one, index) =>
      !fitting
        .slice(0, index)
        .some(better => better.passage.source === one.passage.source && overlap(bare(better), bare(one))),
  )
}

function overlap(better: string, quote: string): boolean {
  const middle = quote.slice(Math.floor(quote.length / 4), Math.ceil((quote.length * 3) / 4))
  return better.includes(middle)
}
