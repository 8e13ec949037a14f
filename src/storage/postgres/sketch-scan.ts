/**
 * The scan in which a search by vectors spends its time: an estimate of each vector's similarity, from the first bytes of
 * its sketch for all of them, and from more and more of it for those that still may be among the nearest.
 */
import { sumsOf } from '../bit-sums.ts'

/** Sketches of some vectors, one after the other, and the sequences of their chunks. */
export interface SketchBlock {
  sequences: Float64Array
  sketches: Uint8Array
}

/** Which of a block's chunks count. */
export interface Chosen {
  /** Chunks that were removed since the block was written. */
  gone?: ReadonlySet<number> | undefined
  /** All do without it. */
  within?: ReadonlySet<number> | undefined
}

/**
 * Steps of the estimate: the bytes that it takes, and how many of the vectors are worth the next step, as a share and at
 * least. Measured with made-up text, where all vectors are about as near as one another: each step loses less than one
 * percent of the ten nearest.
 */
const steps = [
  { bytes: 32, share: 0.6, least: 6000 },
  { bytes: 64, share: 0.4, least: 5000 },
  { bytes: 128, share: 0.06, least: 2500 },
]

/** Vectors that get an exact look: the more there are, the more of them have a sketch as near as those of the nearest. */
export function looksAmong(total: number, limit: number): number {
  return Math.max(2 * limit, Math.min(1000, Math.ceil(300 + total / 500)))
}

/** @param values what each bit counts for. */
export function createScan(values: Float32Array, limit: number) {
  const sums = inIntegers(sumsOf(values))
  const cuts = steps.map(step => createCut(sums, step))
  const sequences: number[] = []
  const estimates: number[] = []
  let total = 0

  /** Undefined for one that fell short of a step. */
  function estimate(sketches: Uint8Array, at: number): number | undefined {
    let sum = 0
    let done = 0
    for (const cut of cuts) {
      sum += sumOf(sums, sketches, at, done, cut.bytes)
      if (!cut.passes(sum)) return undefined
      done = cut.bytes
    }
    return sum + sumOf(sums, sketches, at, done, values.length / 8)
  }

  return {
    add({ sequences: own, sketches }: SketchBlock, { gone, within }: Chosen = {}): void {
      const size = values.length / 8
      for (let index = 0; index < own.length; index += 1) {
        const sequence = own[index] ?? 0
        if (gone?.has(sequence) || within?.has(sequence) === false) continue
        total += 1
        const sum = estimate(sketches, index * size)
        if (sum === undefined) continue
        sequences.push(sequence)
        estimates.push(sum)
      }
      for (const cut of cuts) cut.rise(total)
    },

    /** The sequences of those that are worth an exact look, in no order. */
    nearest(): number[] {
      const wanted = looksAmong(total, limit)
      if (sequences.length <= wanted) return sequences
      const last = Int32Array.from(estimates).sort()[estimates.length - wanted] ?? 0
      return sequences.filter((_, index) => (estimates[index] ?? 0) >= last)
    },
  }
}

/** Adding up integers takes less time, and the tables of the first steps then fit the processor's nearest cache. */
function inIntegers(sums: Float32Array): Int16Array {
  const most = sums.reduce((greatest, sum) => Math.max(greatest, Math.abs(sum)), 0) || 1
  return Int16Array.from(sums, sum => Math.round((sum / most) * 32_767))
}

function sumOf(sums: Int16Array, bytes: Uint8Array, at: number, from: number, to: number): number {
  let sum = 0
  for (let byte = from; byte < to; byte += 1) sum += sums[(byte << 8) | (bytes[at + byte] ?? 0)] ?? 0
  return sum
}

/** Lets the greatest of the sums pass, as far as those before them tell, by counting sums of about the same size. */
function createCut(sums: Int16Array, { bytes, share, least }: (typeof steps)[number]) {
  const classes = 1024
  const most = mostOf(sums, bytes)
  const scale = classes / 2 / most
  const counts = new Uint32Array(classes + 1)
  let threshold = Number.NEGATIVE_INFINITY
  let known = least
  return {
    bytes,
    passes(sum: number): boolean {
      const place = ((sum + most) * scale) | 0
      counts[place] = (counts[place] ?? 0) + 1
      return sum >= threshold
    },
    /** Looks again where the cut lies, once there are some more of them. */
    rise(total: number): void {
      if (total < known) return
      known = total * 1.05
      let room = Math.max(least, total * share)
      for (let place = classes; place >= 0; place -= 1) {
        room -= counts[place] ?? 0
        if (room > 0) continue
        threshold = place / scale - most
        return
      }
    },
  }
}

/** What the sums of so many bytes come to at most. */
function mostOf(sums: Int16Array, bytes: number): number {
  let most = 0
  for (let byte = 0; byte < bytes; byte += 1)
    most += sums.subarray(byte << 8, (byte + 1) << 8).reduce((greatest, sum) => Math.max(greatest, sum), 0)
  return most || 1
}
