/** Limits on what fetching an API source may cost. Sizes are bytes, times milliseconds. */
export const fetchLimits = {
  /** Of an answer after decompression, or of an upload where that may be less: it is held in memory. */
  bytes: 25 * 1024 * 1024,
  /** For one request, with its redirects, to the end of the answer. */
  requestMs: 60_000,
  /** Pauses before a request that failed is sent again. */
  retryPausesMs: [500, 2_000],
  /** The longest Retry-After; a wait that is longer ends the fetch. */
  retryAfterMs: 30_000,
} as const
