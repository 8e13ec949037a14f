import type { TextQuery } from './search-engine.ts'

export type CountedTerm = readonly [term: string, holding: number]

/** Min number of chunks that are ranked: per result, or as a share of all, so that the best are evident. */
const ranksPerResult = 10
const minShare = 1 / 50

/**
 * Splits the terms into essential ones, the rarest, of which a chunk must contain at least one to be ranked at all, and
 * others, which also count for those chunks. Words contained in more than half of the chunks weigh next to nothing, and
 * are left out if another one finds enough.
 */
export function essentialTerms({ terms, chunks, limit }: TextQuery): {
  essential: CountedTerm[]
  others: CountedTerm[]
} {
  const selective = [...terms].filter(([, holding]) => holding <= chunks / 2)
  const enough = selective.some(([, holding]) => holding >= limit)
  const counted = (enough ? selective : [...terms]).sort(([, one], [, other]) => one - other)
  const essential: CountedTerm[] = []
  const enoughRanked = Math.max(limit * ranksPerResult, chunks * minShare)
  let ranked = 0
  for (const term of counted) {
    if (ranked >= enoughRanked) break
    essential.push(term)
    ranked += term[1]
  }
  return { essential, others: counted.slice(essential.length) }
}

/** The number of results that must be the same as if every chunk had been ranked. */
const firstResults = 10

/**
 * Returns true if a chunk without any essential term might be among the first results: with each other term
 * once, it would score more than the last one. `weightOf` is the score of one term in an average chunk.
 */
export function mayMissSome(
  found: readonly { value: number }[],
  others: readonly CountedTerm[],
  weightOf: (holding: number) => number,
): boolean {
  if (others.length === 0) return false
  const most = others.reduce((sum, [, holding]) => sum + weightOf(holding), 0)
  return most >= (found[firstResults - 1]?.value ?? 0)
}
