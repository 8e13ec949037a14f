/** Limits on the cost of fetching an API source. Sizes are bytes, times milliseconds. */
export const fetchLimits = {
  /** Max size of a decompressed answer, or of an upload if that is less: it is in memory. */
  bytes: 25 * 1024 * 1024,
  /** Max time of one request, with its redirects, to the end of the answer. */
  requestMs: 60_000,
  /** Pauses before retries of a failed request. */
  retryPausesMs: [500, 2_000],
  /** Max Retry-After; a longer wait ends the fetch. */
  retryAfterMs: 30_000,
} as const
