declare global {
  interface JSON {
    /** Wraps a JSON text that `stringify` writes unchanged. */
    rawJSON(text: string): object
  }
}

/** Matches more digits than a double holds for certain, or an exponent. */
const mayBeInexact = /^.{16,}|[eE]/

/**
 * Parses JSON whose numbers are written again as they were: a number that a double might change becomes an
 * object that `JSON.stringify` writes with the same digits. @throws SyntaxError
 */
export function parseExact(json: string): unknown {
  return JSON.parse(json, (_name, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' && context?.source !== undefined && mayBeInexact.test(context.source)
      ? JSON.rawJSON(context.source)
      : value,
  )
}
