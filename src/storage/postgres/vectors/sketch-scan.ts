/**
 * The scan that takes most of the time of a vector search. It estimates the similarity of each vector from
 * the first bytes of its sketch, and from more and more bytes for those that can still be among the nearest.
 */
/** Sketches of some vectors, one after another, as words of four bytes, and the sequences of their chunks. */
export interface SketchBlock {
  sequences: Float64Array
  sketches: Uint32Array
}

/** The chunks of a block that are considered. */
export interface Chosen {
  /** Chunks that were removed since the block was written. */
  gone?: ReadonlySet<number> | undefined
  /** The considered chunks; undefined for all. */
  within?: ReadonlySet<number> | undefined
}

/**
 * Steps of the estimate: the number of bytes used, and of vectors that go on to the next step, as a share and
 * a minimum. Measured with synthetic text, where all vectors are about equally near one another: of the ten
 * nearest among a hundred thousand, all steps together lose about one in a hundred.
 */
const steps = [
  { bytes: 32, share: 0.6, least: 6000 },
  { bytes: 64, share: 0.4, least: 5000 },
  { bytes: 128, share: 0.06, least: 2500 },
]

/** Returns the number of vectors to compare exactly, which grows with the number of near sketches. */
export function looksAmong(total: number, limit: number): number {
  return Math.max(2 * limit, Math.min(1000, Math.ceil(300 + total / 500)))
}

/** @param values the weight of each bit. */
export function createScan(values: Float32Array, limit: number) {
  const whole = inIntegers(values)
  const sums = sumsOf(whole)
  const cuts = steps.map(step => createCut(whole, step))
  const sequences: number[] = []
  const estimates: number[] = []
  /** Length of a sketch in words. */
  const size = values.length / 32
  let total = 0

  /** Returns undefined for a vector that a step eliminated. */
  function estimate(sketches: Uint32Array, at: number): number | undefined {
    let sum = 0
    let done = 0
    for (const cut of cuts) {
      sum += sumOf(sums, sketches, at, done, cut.words)
      if (!cut.passes(sum)) return undefined
      done = cut.words
    }
    return sum + sumOf(sums, sketches, at, done, size)
  }

  return {
    add({ sequences: own, sketches }: SketchBlock, { gone, within }: Chosen = {}): void {
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

    /** Returns the sequences of the vectors to compare exactly, in no particular order. */
    nearest(): number[] {
      const wanted = looksAmong(total, limit)
      if (sequences.length <= wanted) return sequences
      const last = Int32Array.from(estimates).sort()[estimates.length - wanted] ?? 0
      return sequences.filter((_, index) => (estimates[index] ?? 0) >= last)
    },
  }
}

/** Scales the values so that the sum of eight fits 16 bits: tables stay small, and adding is faster. */
function inIntegers(values: Float32Array): Int32Array {
  let most = 0
  for (let start = 0; start < values.length; start += 8) {
    let sum = 0
    for (let index = start; index < start + 8; index += 1) sum += Math.abs(values[index] ?? 0)
    most = Math.max(most, sum)
  }
  const scale = most === 0 ? 0 : 32_000 / most
  const integers = new Int32Array(values.length)
  for (let index = 0; index < values.length; index += 1)
    integers[index] = Math.round((values[index] ?? 0) * scale)
  return integers
}

/** Returns for each byte position 256 sums of its eight values, each with the sign given by its bit. */
function sumsOf(values: Int32Array): Int16Array {
  const sums = new Int16Array(values.length * 32)
  for (let byte = 0; byte < values.length / 8; byte += 1) {
    const begin = byte << 8
    for (let bit = 0; bit < 8; bit += 1) sums[begin] = (sums[begin] ?? 0) - (values[byte * 8 + bit] ?? 0)
    for (let bits = 1; bits < 256; bits += 1) {
      const highest = 31 - Math.clz32(bits)
      const rest = sums[begin | (bits ^ (1 << highest))] ?? 0
      sums[begin | bits] = rest + 2 * (values[byte * 8 + highest] ?? 0)
    }
  }
  return sums
}

/** Adds four bytes at a time: reading a word takes no longer than a byte. Positions count words. */
function sumOf(sums: Int16Array, words: Uint32Array, at: number, from: number, to: number): number {
  let sum = 0
  for (let index = from; index < to; index += 1) {
    const word = words[at + index] ?? 0
    const begin = index << 10
    sum +=
      (sums[begin | (word & 0xff)] ?? 0) +
      (sums[begin | 0x100 | ((word >>> 8) & 0xff)] ?? 0) +
      (sums[begin | 0x200 | ((word >>> 16) & 0xff)] ?? 0) +
      (sums[begin | 0x300 | (word >>> 24)] ?? 0)
  }
  return sum
}

/** Lets the greatest sums pass, judging by those before them, with a histogram of the sums. */
function createCut(values: Int32Array, { bytes, share, least }: (typeof steps)[number]) {
  const classes = 1024
  let most = 1
  for (let index = 0; index < bytes * 8; index += 1) most += Math.abs(values[index] ?? 0)
  const scale = classes / 2 / most
  const counts = new Uint32Array(classes + 1)
  let threshold = Number.NEGATIVE_INFINITY
  let known = least
  return {
    words: bytes / 4,
    passes(sum: number): boolean {
      const place = ((sum + most) * scale) | 0
      counts[place] = (counts[place] ?? 0) + 1
      return sum >= threshold
    },
    /** Recomputes the threshold, once there are some more sums. */
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
