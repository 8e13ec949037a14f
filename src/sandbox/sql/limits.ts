/** Limits of one statement, the same on every engine. */

/** Max rows of a result. */
export const maxRows = 10_000
/** Max bytes of the texts and blobs of a result, and of their surroundings. */
export const maxBytes = 8 * 1024 * 1024
/** Max time from the start of execution (ms). */
export const timeLimit = 5_000
/** Max characters of a statement. */
export const maxLength = 100_000
/** Max tokens of a statement: it is parsed on the thread that serves requests. */
export const maxTokens = 20_000
export const maxParameters = 1_000
/** Max nested brackets. */
export const maxNesting = 200
