import type { Found } from '#storage/search/search-engine.ts'

/** The chunks that match a query by words and by vectors, each best first. */
export interface Rankings {
  text: readonly Found[]
  /** One ranking, or one for each embedding during a change; these have no chunk in common. */
  vectors: readonly VectorRanking[]
}

export interface VectorRanking {
  found: readonly Found[]
  /** The weight; that of the text is 1. */
  weight: number
  /** True if only chunks of the text search were compared because others cannot be among the first. */
  isOfText?: boolean
}

/** Min candidates of each ranking: later ones have little weight. */
export const minCandidates = 100

/**
 * The constant of "reciprocal rank fusion" (Cormack, Clarke, Büttcher 2009): the larger, the smaller the lead of the
 * first ranks.
 */
const rankConstant = 60

/** The weight of a provider's vectors; full text has the weight 1. */
export const providerWeight = 1

/** Shares of a query, weighted by the rarity of its terms. */
export interface QueryShares {
  /** The share of words, without pieces of text from scripts without spaces. */
  words: number
  /** The share of words that no chunk contains, such as misspelt ones. */
  unknownWords: number
}

/**
 * Returns the weight of the built-in vectors, made of the letter sequences of words: where the full-text
 * index knows every word, they refine its order, and the greater the share of unknown words, the more they
 * matter. Pieces, usually pairs of characters, are the same to both. The figures were measured with
 * `bench/retrieval.ts`.
 */
export function builtinWeight({ words, unknownWords }: QueryShares): number {
  return 0.125 * words + 0.875 * unknownWords
}

/**
 * Returns the number of first results of the text search that a ranking of this weight can move into the
 * first places of the fusion; undefined if it can bring others there.
 */
export function withinReach(weight: number, wanted: number): number | undefined {
  const last = 1 / (rankConstant + wanted)
  const maxGain = weight / (rankConstant + 1)
  return maxGain < last ? Math.floor(1 / (last - maxGain) - rankConstant) : undefined
}

/** A chunk in the fused order; scores never increase down the list. */
export interface Scored {
  sequence: number
  score: number
}

/**
 * Fuses rankings by text and by vectors, each best first. A chunk's similarity is the greater of its two; its score is
 * the greatest similarity from its place downwards, so that scores agree with ranks. On equal ranks, such as the first
 * of two embeddings, the more similar chunk comes first, then the earlier one.
 */
export function fuse({ text, vectors }: Rankings): Scored[] {
  const fused = new Map<number, { rank: number; similarity: number }>()
  const add = (ranking: readonly Found[], weight: number) => {
    ranking.forEach(({ sequence, similarity }, index) => {
      const { rank, similarity: other } = fused.get(sequence) ?? { rank: 0, similarity: 0 }
      const sum = rank + weight / (rankConstant + index + 1)
      fused.set(sequence, { rank: sum, similarity: Math.max(similarity, other) })
    })
  }
  add(text, 1)
  for (const { found, weight } of vectors) add(found, weight)
  const ordered = [...fused].sort(
    ([first, one], [second, other]) =>
      other.rank - one.rank || other.similarity - one.similarity || first - second,
  )
  return withScores(ordered.map(([sequence, { similarity }]) => ({ sequence, similarity })))
}

function withScores(ordered: readonly Found[]): Scored[] {
  let score = 0
  return ordered
    .toReversed()
    .map(({ sequence, similarity }) => {
      score = Math.max(score, similarity)
      return { sequence, score }
    })
    .reverse()
}
