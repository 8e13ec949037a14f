/** Limits of one statement, the same on every engine. */

/** Rows of a result. */
export const maxRows = 10_000
/** Bytes of the texts and blobs of a result, and of what surrounds them. */
export const maxBytes = 8 * 1024 * 1024
/** Milliseconds from the start of execution. */
export const timeLimit = 5_000
/** Characters of a statement. */
export const maxLength = 100_000
/** Tokens of a statement: it is parsed on the thread that serves requests. */
export const maxTokens = 20_000
export const maxParameters = 1_000
/** Nested brackets. */
export const maxNesting = 200
