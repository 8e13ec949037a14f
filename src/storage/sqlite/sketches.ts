/**
 * A sketch is a short form of a vector: 1,536 bits that tell on which side of as many planes it lies. The scan of all
 * sketches says which few vectors are worth an exact look (as in RaBitQ, Gao and Long 2024): a query keeps its values,
 * since a bit on one side alone costs half as much precision as on both.
 */
import { rotate } from '#platform/rotate.ts'
import { sumOf, sumsOf } from '../bit-sums.ts'
import type { NearestQuery, Vector, VectorSpace } from '../search-engine.ts'

const sketchBits = 1536
export const sketchBytes = sketchBits / 8

/** The bits of a vector of bits are such sides already: its first ones are its sketch. The first bit is set, always. */
export function sketchOf({ form }: VectorSpace | { form: VectorSpace['form'] }, vector: Vector): Uint8Array {
  const sketch = new Uint8Array(sketchBytes)
  if (form === 'bits') sketch.set(vector.subarray(0, sketchBytes))
  else
    rotated(vector).forEach((value, index) => {
      if (value > 0) sketch[index >> 3] = (sketch[index >> 3] ?? 0) | (1 << (index & 7))
    })
  sketch[0] = (sketch[0] ?? 0) | presence
  return sketch
}

/** So that an entry of zeros is no sketch; a query leaves this bit out. */
const presence = 1

/** What each bit of a sketch counts for: the estimate of the similarity is the sum of these, each with its bit's sign. */
export function bitValues({ form }: VectorSpace, { vector, values }: NearestQuery): Float32Array {
  const counted = new Float32Array(sketchBits)
  if (form === 'floats') counted.set(rotated(vector))
  else counted.set((values ?? signsOf(vector)).subarray(0, sketchBits))
  counted[0] = 0
  return counted
}

function signsOf(bits: Vector): Float32Array {
  return Float32Array.from({ length: bits.length * 8 }, (_, index) =>
    ((bits[index >> 3] ?? 0) >> (index & 7)) & 1 ? 1 : -1,
  )
}

/** Turned in a way that looks random but is always the same, so that every dimension has a part in every value. */
function rotated(vector: Vector): Float32Array {
  const size = 2 ** Math.ceil(Math.log2(Math.max(sketchBits, vector.length)))
  const values = new Float32Array(size)
  values.set(vector)
  for (const seed of [0x9e37_79b1, 0x85eb_ca77]) {
    for (let index = 0; index < size; index += 1)
      if (flips(index, seed)) values[index] = -(values[index] ?? 0)
    rotate(values)
  }
  return values.subarray(0, sketchBits)
}

function flips(index: number, seed: number): boolean {
  let hash = Math.imul(index + 1, seed)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b_3c6d)
  return ((hash ^ (hash >>> 13)) & 1) === 1
}

/** Bytes of a sketch that are looked at first, and the share of the vectors that go on to the rest, or how many at least. */
const firstBytes = 32
const share = 1 / 6
const leastKept = 3200

/** The more vectors there are, the more of them have a sketch as near as those of the nearest. */
function looksAmong(total: number): number {
  return Math.min(1000, 400 + total / 200)
}

/** Keeps the sketches that come nearest to a query while blocks of them pass by. */
export function createScan(values: Float32Array, leastWanted: number) {
  const sums = sumsOf(values)
  const sequences: number[] = []
  const estimates: number[] = []
  const cut = createCut(values.subarray(0, firstBytes * 8), Math.max(leastKept, 2 * leastWanted))

  return {
    /** @param within the sequences that count; all do without it. */
    add(first: number, sketches: Uint8Array, within?: ReadonlySet<number>): void {
      const threshold = cut.threshold()
      for (let at = 0, sequence = first; at < sketches.length; at += sketchBytes, sequence += 1) {
        if (((sketches[at] ?? 0) & presence) === 0 || (within && !within.has(sequence))) continue
        const begin = sumOf(sums, sketches, at, 0, firstBytes)
        cut.count(begin)
        if (begin < threshold) continue
        sequences.push(sequence)
        estimates.push(begin + sumOf(sums, sketches, at, firstBytes, sketchBytes))
      }
    },

    /** The sequences of the nearest ones, in no order. */
    nearest(): number[] {
      const wanted = Math.max(leastWanted, Math.ceil(looksAmong(cut.total())))
      if (sequences.length <= wanted) return sequences
      const last = Float32Array.from(estimates).sort()[estimates.length - wanted] ?? 0
      return sequences.filter((_, index) => (estimates[index] ?? 0) >= last)
    },
  }
}

/** Tells what the best of the values so far have at least, by counting values of about the same size. */
function createCut(values: Float32Array, least: number) {
  const classes = 1024
  const most = values.reduce((sum, value) => sum + Math.abs(value), 0) || 1
  const scale = classes / 2 / most
  const counts = new Uint32Array(classes + 1)
  let total = 0
  return {
    total: () => total,
    count(value: number): void {
      const place = ((value + most) * scale) | 0
      counts[place] = (counts[place] ?? 0) + 1
      total += 1
    },
    threshold(): number {
      let room = Math.max(least, total * share)
      for (let place = classes; place >= 0; place -= 1) {
        room -= counts[place] ?? 0
        if (room <= 0) return place / scale - most
      }
      return Number.NEGATIVE_INFINITY
    },
  }
}
