/**
 * Limits on the cost of a document. What exceeds them is reported among the skipped operations and the warnings, never
 * dropped silently.
 */
export const limits = {
  operations: 2000,
  /** One tool's arguments, as characters of JSON. */
  argumentCharacters: 32_000,
  /** All tools together, as characters of JSON. */
  totalCharacters: 16_000_000,
  /** Schemas visited while describing the arguments of all tools, before detail is reduced. */
  describedCharacters: 20_000_000,
  parametersPerOperation: 200,
  /** Aliases in a YAML document after expansion, as the library counts them. */
  aliases: 1000,
  /** Length of a chain of references. */
  referenceHops: 20,
  /** Documents that a document refers to, and their bytes together. */
  otherDocuments: 200,
  otherBytes: 10 * 1024 * 1024,
  othersAtOnce: 8,
  /** Milliseconds for one of these fetches, and for all of them. */
  otherMs: 10_000,
  gatherMs: 60_000,
  skipped: 500,
  warnings: 1000,
  nameCharacters: 200,
  pathCharacters: 2000,
  descriptionCharacters: 2000,
  /** Milliseconds until parsing is aborted. */
  readMs: 15_000,
} as const
