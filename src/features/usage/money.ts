/** US dollars per million tokens; cache prices default to `input`. */
export interface ModelPrice {
  input: number
  output: number
  cached_input?: number
  cache_write?: number
}

/** Tokens of a call of a model. */
export interface CallTokens {
  /** Includes tokens read from or written to a cache. */
  input: number
  cached: number
  cacheWrite: number
  output: number
}

/** Returns the cost of a call in billionths of a US dollar. A price per million tokens has as many billionths per thousand. */
export function costOf({ input, cached, cacheWrite, output }: CallTokens, price: ModelPrice): number {
  const plain = Math.max(0, input - cached - cacheWrite)
  const dollars =
    plain * price.input +
    cached * (price.cached_input ?? price.input) +
    cacheWrite * (price.cache_write ?? price.input) +
    output * price.output
  return Math.round(dollars * 1000)
}

/** Formats billionths of a US dollar as a decimal: `dollarsOf(12_500_000)` is `0.0125`. */
export function dollarsOf(billionths: number): string {
  const digits = String(billionths).padStart(10, '0')
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`.replace(/\.?0+$/, '')
}
