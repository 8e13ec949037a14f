/** The value that so large a share of the values (0 to 1) does not exceed; NaN without values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5)
}

/** A linear congruential generator: the same numbers in every run, from 0 to below 1. */
export function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    // The low bits of such a generator repeat soon.
    return (state >>> 7) / 2 ** 24
  }
}
