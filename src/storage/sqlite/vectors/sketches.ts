/**
 * A look through the sketches of all vectors says which few of these are worth an exact look. First bits are compared with
 * bits, which is quick; those that are nearest by that are compared with the query's values (as in RaBitQ, Gao and Long
 * 2024), which is half as far off.
 */
import { sumOf, sumsOf } from '../../bit-sums.ts'
import { differing, wordsOf } from '../../differing-bits.ts'
import type { NearestQuery, Vector, VectorSpace } from '../../search-engine.ts'
import { bitValues, setSigns, sketchOf as sidesOf, sketchBits, sketchBytes } from '../../sketch-bits.ts'

/** With the first bit set, always. */
export function sketchOf(space: Pick<VectorSpace, 'form'>, vector: Vector): Uint8Array {
  const sketch = sidesOf(space, vector)
  sketch[0] = (sketch[0] ?? 0) | presence
  return sketch
}

/** So that an entry of zeros is no sketch; a query has this bit as well, and its value adds the same to all estimates. */
const presence = 1

/** Words of a sketch, all of them and those that are compared first. */
const allWords = sketchBits / 32
const firstWords = allWords / 2

/**
 * How many go on from each comparison to the next one. Ranks by sketches are as far off as the root of the number of all
 * vectors grows, as `bench/search-large.ts` has it.
 */
const byFirstWords = (total: number) => 60 * Math.sqrt(total)
const byAllWords = (total: number) => Math.max(1200, 10 * Math.sqrt(total))
export const exactLooks = (total: number) => Math.max(300, 1.3 * Math.sqrt(total))

/**
 * Keeps the sketches that come nearest to a query while blocks of them pass by.
 * @param total how many sketches there are, by and large
 */
export function createScan(space: VectorSpace, query: NearestQuery, total: number) {
  const values = bitValues(space, query)
  const words = wordsOf(sketchOf({ form: 'bits' }, signBits(values)))
  const sums = sumsOf(values)
  const bytes = Math.min(sketchBytes, values.length / 8)
  const wanted = Math.max(2 * query.limit, exactLooks(total))
  const passing = Math.min(total, Math.max(wanted, byFirstWords(total)))
  const first = createCut(wanted, passing / total)
  const second = createCut(wanted, byAllWords(total) / passing)
  const sequences: number[] = []
  const estimates: number[] = []

  return {
    /** @param counts tells the sequences that count; all do without it. */
    add({ start, sketches }: SketchBlock, counts?: (sequence: number) => boolean): void {
      const stored = wordsOf(sketches)
      for (let at = 0, sequence = start; at < stored.length; at += allWords, sequence += 1) {
        if (((stored[at] ?? 0) & presence) === 0 || (counts !== undefined && !counts(sequence))) continue
        const begin = differing(words, stored, at, 0, firstWords)
        if (!first.lets(begin)) continue
        if (!second.lets(begin + differing(words, stored, at, firstWords, allWords))) continue
        sequences.push(sequence)
        estimates.push(sumOf(sums, sketches, at * 4, 0, bytes))
      }
    },

    /** The sequences of the nearest ones, in no order. */
    nearest(): number[] {
      if (sequences.length <= wanted) return sequences
      const last = Float64Array.from(estimates).sort()[Math.ceil(estimates.length - wanted)] ?? 0
      return sequences.filter((_, index) => (estimates[index] ?? 0) >= last)
    },
  }
}

/** Sketches among those in a row. */
export function countIn(sketches: Uint8Array): number {
  let count = 0
  for (let at = 0; at < sketches.length; at += sketchBytes) count += (sketches[at] ?? 0) & presence
  return count
}

/** Sketches of chunks in a row. */
export interface SketchBlock {
  /** The sequence that the first of them is for. */
  start: number
  sketches: Uint8Array
}

function signBits(values: Float32Array): Uint8Array {
  const bits = new Uint8Array(values.length / 8)
  setSigns(bits, values)
  return bits
}

/** Lets pass what belongs to so many or to this share of the least distances so far, whichever is more. */
function createCut(least: number, share: number) {
  const counts = new Uint32Array(sketchBits + 1)
  let total = 0
  let most = -1
  let within = 0
  return {
    lets(distance: number): boolean {
      counts[distance] = (counts[distance] ?? 0) + 1
      total += 1
      if (distance <= most) within += 1
      const room = Math.max(least, total * share)
      while (most < sketchBits && within < room) within += counts[++most] ?? 0
      while (most >= 0 && within - (counts[most] ?? 0) >= room) within -= counts[most--] ?? 0
      return distance <= most
    },
  }
}
