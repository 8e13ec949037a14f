const first = 1_000
const growth = 4
const spread = 0.25

/**
 * Returns the wait after the nth failure in a row (ms, from 1): 1 s, 4 s, 16 s, 64 s and so on, each up to a
 * quarter shorter or longer, so that jobs that failed together spread. `random` returns 0 to 1.
 */
export function backoff(failures: number, random: () => number): number {
  const factor = 1 + spread * (2 * random() - 1)
  return Math.round(first * growth ** (failures - 1) * factor)
}
