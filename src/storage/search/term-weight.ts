/**
 * Returns the weight of a term by the number of chunks that hold it: the inverse document frequency as FTS5
 * computes it. Words in more than half of the chunks weigh next to nothing.
 */
export function weightOf(holding: number, chunks: number): number {
  return Math.max(1e-6, Math.log((chunks - holding + 0.5) / (holding + 0.5)))
}
