/** Bounds of one statement, equal on every engine. */

/** Rows of an answer. */
export const maxRows = 10_000
/** Bytes of the texts and blobs of an answer, and of what surrounds them. */
export const maxBytes = 8 * 1024 * 1024
/** Milliseconds from the moment that the statement begins to run. */
export const timeLimit = 5_000
/** Characters of a statement. */
export const maxLength = 100_000
/** Words, signs and values of a statement: it is read where requests are served. */
export const maxTokens = 20_000
export const maxParameters = 1_000
/** Brackets within brackets. */
export const maxNesting = 200
