import type { Found } from '#storage/search-engine.ts'

/** The chunks that fit a query by their words and by their vectors, each best first. */
export interface Rankings {
  text: readonly Found[]
  /** One, or while chunks change their embedding one for each embedding, which have no chunk in common. */
  vectors: readonly VectorRanking[]
}

export interface VectorRanking {
  found: readonly Found[]
  /** How much it counts for beside the text, which counts for 1. */
  weight: number
  /** What the text has not found was left out, since it can't come among the first. */
  isOfText?: boolean
}

/** Taken from each ranking, or as many as there are results wanted: what stands further down has little weight. */
export const leastCandidates = 100

/** Of "reciprocal rank fusion" (Cormack, Clarke, Büttcher 2009): how little the first ranks are ahead of the next ones. */
const rankConstant = 60

/** How much a provider's vectors count for beside the full text, which counts for 1. */
export const providerWeight = 1

/** Shares of a query, by the rarity of its terms. */
export interface QueryShares {
  /** Words, in contrast to pieces of text that is written without spaces. */
  words: number
  /** Words that no chunk holds, such as misspelt ones. */
  unknownWords: number
}

/**
 * The same of the built-in vectors, which are made of the letter sequences of words: where the full-text index knows each
 * word they refine its order, and they matter more the greater the share of the words it does not know. Pieces, as a rule
 * pairs of characters, are the same to both. The figures are measured by `bench/retrieval.ts`.
 */
export function builtinWeight({ words, unknownWords }: QueryShares): number {
  return 0.125 * words + 0.875 * unknownWords
}

/**
 * How many of the first that the text has found a ranking of this weight may bring among so many first ones of both;
 * undefined where it may bring others there.
 */
export function withinReach(weight: number, wanted: number): number | undefined {
  const last = 1 / (rankConstant + wanted)
  const most = weight / (rankConstant + 1)
  return most < last ? Math.floor(1 / (last - most) - rankConstant) : undefined
}

/** A chunk in the fused order; no score is above the one before it. */
export interface Scored {
  sequence: number
  score: number
}

/**
 * Rankings by text and by vectors, each best first, as one. A chunk's similarity is the greater of its two; its score is the greatest
 * similarity from its place downwards, so that scores tell the same order as the ranks. Of equal ranks, such as the first of
 * two embeddings, the more similar comes first.
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
    ([, one], [, other]) => other.rank - one.rank || other.similarity - one.similarity,
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
