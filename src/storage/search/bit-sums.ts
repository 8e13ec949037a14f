/**
 * Adds up values, each with the sign given by its bit, four bits at a time from a table of partial sums. Tables for
 * eight bits at a time would be sixteen times as large as the values, and often take longer to build than they save.
 * `sums` holds 16 sums for each half of a byte.
 */
export function sumsOf(values: Float32Array): Float32Array {
  const sums = made.get(values) ?? makeSums(values)
  made.set(values, sums)
  return sums
}

/** The tables are used both for estimates and for exact comparisons. */
const made = new WeakMap<Float32Array, Float32Array>()

function makeSums(values: Float32Array): Float32Array {
  const sums = new Float32Array(values.length * 4)
  for (let half = 0; half < values.length / 4; half += 1) {
    const table = half << 4
    for (let bit = 0; bit < 4; bit += 1) {
      const value = values[half * 4 + bit] ?? 0
      const size = 1 << bit
      for (let bits = table; bits < table + size; bits += 1) {
        const sum = sums[bits] ?? 0
        sums[bits] = sum - value
        sums[bits + size] = sum + value
      }
    }
  }
  return sums
}

/** Adds the bits that begin at `at` in `bytes`, from the byte `from` to the byte `to`. */
export function sumOf(sums: Float32Array, bytes: Uint8Array, at: number, from: number, to: number): number {
  let sum = 0
  for (let byte = from; byte < to; byte += 1) {
    const bits = bytes[at + byte] ?? 0
    const table = byte << 5
    sum += (sums[table | (bits & 0xf)] ?? 0) + (sums[table | 0x10 | (bits >> 4)] ?? 0)
  }
  return sum
}
