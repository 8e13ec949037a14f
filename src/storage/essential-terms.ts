import type { TextQuery } from './search-engine.ts'

export type CountedTerm = readonly [term: string, holding: number]

/** Chunks that are ranked: so many for each that is wanted, or a share of all, which the first ones stand out of. */
const ranksPerResult = 10
const leastShare = 1 / 50

/**
 * The terms of which a chunk must hold one to be ranked at all, the rarest ones, and the others, which count for those
 * chunks as well. Words of which every second chunk holds one weigh next to nothing and are left out, provided that
 * another one finds enough.
 */
export function essentialTerms({ terms, chunks, limit }: TextQuery): {
  essential: CountedTerm[]
  others: CountedTerm[]
} {
  const selective = [...terms].filter(([, holding]) => holding <= chunks / 2)
  const enough = selective.some(([, holding]) => holding >= limit)
  const counted = (enough ? selective : [...terms]).sort(([, one], [, other]) => one - other)
  const essential: CountedTerm[] = []
  const enoughRanked = Math.max(limit * ranksPerResult, chunks * leastShare)
  let ranked = 0
  for (const term of counted) {
    if (ranked >= enoughRanked) break
    essential.push(term)
    ranked += term[1]
  }
  return { essential, others: counted.slice(essential.length) }
}

/** Results that are to be the same as if every chunk had been ranked. */
const firstResults = 10

/**
 * Whether a chunk that holds none of the essential terms may be among the first: it would have to be worth more than
 * the last of those, with each of the other terms once. `weightOf` tells what a chunk of average length gets for one.
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
