/**
 * Adds up values, each with the sign that a bit tells: a byte of bits at a time, from a table of what its eight values add
 * up to. `sums` holds 256 sums for each byte.
 */
export function sumsOf(values: Float32Array): Float32Array {
  const sums = made.get(values) ?? makeSums(values)
  made.set(values, sums)
  return sums
}

/** The tables are larger than what else a search needs, and wanted for estimates and for exact looks. */
const made = new WeakMap<Float32Array, Float32Array>()

function makeSums(values: Float32Array): Float32Array {
  const sums = new Float32Array((values.length / 8) * 256)
  for (let byte = 0; byte < values.length / 8; byte += 1) {
    const table = byte << 8
    for (let bit = 0; bit < 8; bit += 1) {
      const value = values[byte * 8 + bit] ?? 0
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

/** The bits begin in `bytes` at `at`; those from `from` to `to` count. */
export function sumOf(sums: Float32Array, bytes: Uint8Array, at: number, from: number, to: number): number {
  let sum = 0
  for (let byte = from; byte < to; byte += 1) sum += sums[(byte << 8) | (bytes[at + byte] ?? 0)] ?? 0
  return sum
}
