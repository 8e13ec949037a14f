/** The value of a number as it is written, in decimal digits; never rounded. */
export interface Decimal {
  /** -1, 0 or 1. */
  sign: number
  /** Number of digits before the point, negative for zeros after it: `0.0123` has -1, `12.3` has 2. */
  magnitude: number
  /** The digits without zeros at either end; empty for zero. */
  digits: string
}

/** Numbers as in JSON, or without the zero before the point: `007`, `0x1` and `+1` are texts. */
const written = /^(-?)(0|[1-9]\d*|(?=\.\d))(?:\.(\d+))?(?:[eE]([+-]?\d{1,15}))?$/

/** Returns undefined if the text is no number, or its exponent has more than 15 digits. Takes linear time. */
export function decimalOf(text: string): Decimal | undefined {
  const match = written.exec(text)
  if (match === null) return undefined
  const [, minus, whole = '', fraction = '', exponent = '0'] = match
  const all = whole + fraction
  let start = 0
  while (all[start] === '0') start += 1
  let end = all.length
  while (end > start && all[end - 1] === '0') end -= 1
  if (start === end) return { sign: 0, magnitude: 0, digits: '' }
  return {
    sign: minus === '-' ? -1 : 1,
    magnitude: Number(exponent) + whole.length - start,
    digits: all.slice(start, end),
  }
}

/** Returns less than 0, 0, or more than 0, if the first is less than, equal to or greater than the other. */
export function compareDecimals(one: Decimal, other: Decimal): number {
  if (one.sign !== other.sign) return one.sign - other.sign
  if (one.magnitude !== other.magnitude) return one.sign * (one.magnitude - other.magnitude)
  if (one.digits === other.digits) return 0
  return one.digits < other.digits ? -one.sign : one.sign
}
