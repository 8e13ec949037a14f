/**
 * Adds up values, each with the sign that a bit tells: a byte of bits at a time, from a table of what its eight values add
 * up to. `sums` holds 256 sums for each byte.
 */
export function sumsOf(values: Float32Array): Float32Array {
  const sums = new Float32Array((values.length / 8) * 256)
  for (let byte = 0; byte < values.length / 8; byte += 1) {
    const eight = values.subarray(byte * 8, byte * 8 + 8)
    sums[byte << 8] = -eight.reduce((sum, value) => sum + value, 0)
    for (let bits = 1; bits < 256; bits += 1) {
      const highest = 31 - Math.clz32(bits)
      const rest = sums[(byte << 8) | (bits ^ (1 << highest))] ?? 0
      sums[(byte << 8) | bits] = rest + 2 * (eight[highest] ?? 0)
    }
  }
  return sums
}

/** The loop in which a search spends its time. The bits begin in `bytes` at `at`; those from `from` to `to` count. */
export function sumOf(sums: Float32Array, bytes: Uint8Array, at: number, from: number, to: number): number {
  let sum = 0
  for (let byte = from; byte < to; byte += 1) sum += sums[(byte << 8) | (bytes[at + byte] ?? 0)] ?? 0
  return sum
}
