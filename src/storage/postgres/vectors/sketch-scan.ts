/**
 * The scan in which a search by vectors spends its time: an estimate of each vector's similarity, from the first bytes of
 * its sketch for all of them, and from more and more of it for those that still may be among the nearest.
 */
/** Sketches of some vectors, one after the other, by words of four bytes, and the sequences of their chunks. */
export interface SketchBlock {
  sequences: Float64Array
  sketches: Uint32Array
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
 * least. Measured with made-up text, where all vectors are about as near as one another: of the ten nearest among a hundred
 * thousand, all steps together lose about one in a hundred.
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
  const whole = inIntegers(values)
  const sums = sumsOf(whole)
  const cuts = steps.map(step => createCut(whole, step))
  const sequences: number[] = []
  const estimates: number[] = []
  /** Words of a sketch. */
  const size = values.length / 32
  let total = 0

  /** Undefined for one that fell short of a step. */
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

    /** The sequences of those that are worth an exact look, in no order. */
    nearest(): number[] {
      const wanted = looksAmong(total, limit)
      if (sequences.length <= wanted) return sequences
      const last = Int32Array.from(estimates).sort()[estimates.length - wanted] ?? 0
      return sequences.filter((_, index) => (estimates[index] ?? 0) >= last)
    },
  }
}

/** What eight of them add up to fits 16 bits: such tables are small, and integers are added up in less time. */
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

/** For each byte, 256 sums of its eight values, each with the sign that a bit tells. */
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

/** Four bytes at a time, as a word is read in the time of a byte; the positions are those of words. */
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

/** Lets the greatest of the sums pass, as far as those before them tell, by counting sums of about the same size. */
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
