declare global {
  interface JSON {
    /** What `stringify` writes as this text. */
    rawJSON(text: string): object
  }
}

/** More digits than a double holds for certain, or an exponent. */
const mayBeInexact = /^.{16,}|[eE]/

/**
 * Parses JSON whose numbers are written again as they were: what a double might change becomes an object that `JSON.stringify`
 * writes as the same digits. @throws SyntaxError
 */
export function parseExact(json: string): unknown {
  return JSON.parse(json, (_name, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' && context?.source !== undefined && mayBeInexact.test(context.source)
      ? JSON.rawJSON(context.source)
      : value,
  )
}
