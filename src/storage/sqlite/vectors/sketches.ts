/**
 * A scan of all sketches selects the few vectors that are worth comparing exactly. First, bits are compared with bits,
 * which is fast; the nearest by that measure are compared with the query's exact values (as in RaBitQ, Gao and Long
 * 2024), which halves the error.
 */
import { sumOf, sumsOf } from '../../search/bit-sums.ts'
import { differing, wordsOf } from '../../search/differing-bits.ts'
import type { NearestQuery, Vector, VectorSpace } from '../../search/search-engine.ts'
import {
  bitValues,
  setSigns,
  sketchOf as sidesOf,
  sketchBits,
  sketchBytes,
} from '../../search/sketch-bits.ts'

/** Returns the sketch of a vector, always with the first bit set. */
export function sketchOf(space: Pick<VectorSpace, 'form'>, vector: Vector): Uint8Array {
  const sketch = sidesOf(space, vector)
  sketch[0] = (sketch[0] ?? 0) | presence
  return sketch
}

/** Set so that zeros are no sketch; a query has this bit, too, so it adds the same to all estimates. */
const presence = 1

/** Words of a sketch: all of them, and those that are compared first. */
const allWords = sketchBits / 32
const firstWords = allWords / 2

/**
 * Number of sketches that go on from each comparison to the next one. The error of ranks by sketches grows
 * with the square root of the number of vectors, as measured by `bench/search-large.ts`.
 */
const byFirstWords = (total: number) => 60 * Math.sqrt(total)
const byAllWords = (total: number) => Math.max(1200, 10 * Math.sqrt(total))
export const exactLooks = (total: number) => Math.max(300, 1.3 * Math.sqrt(total))

/**
 * Keeps the sketches that are nearest to a query as blocks of them are added.
 * @param total the approximate number of sketches
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
    /** @param counts returns true for a sequence to consider; undefined for all. */
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

    /** Returns the sequences of the nearest ones, in no particular order. */
    nearest(): number[] {
      if (sequences.length <= wanted) return sequences
      const last = Float64Array.from(estimates).sort()[Math.ceil(estimates.length - wanted)] ?? 0
      return sequences.filter((_, index) => (estimates[index] ?? 0) >= last)
    },
  }
}

/** Counts the sketches in a row, without empty entries. */
export function countIn(sketches: Uint8Array): number {
  let count = 0
  for (let at = 0; at < sketches.length; at += sketchBytes) count += (sketches[at] ?? 0) & presence
  return count
}

/** Sketches of consecutive chunks. */
export interface SketchBlock {
  /** The sequence of the first one. */
  start: number
  sketches: Uint8Array
}

function signBits(values: Float32Array): Uint8Array {
  const bits = new Uint8Array(values.length / 8)
  setSigns(bits, values)
  return bits
}

/** Passes a distance if it is among the `least` smallest so far, or within this share of the smallest, whichever is more. */
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
