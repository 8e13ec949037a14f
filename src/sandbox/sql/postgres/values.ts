/** Converts values between JSON and the text format in which PostgreSQL sends and accepts them. */
import type { SqlParameter, SqlValue } from '../sql-runner.ts'

/** OIDs of types, the same on every server. */
const oids = {
  bool: 16,
  bytea: 17,
  bigint: 20,
  text: 25,
  double: 701,
  integers: [20, 21, 23, 26],
  floats: [700, 701],
  numeric: 1700,
}

/** Returns the text of a value without a type, which so gets that of its column or comparison. */
export function toText(value: SqlParameter): string | null {
  if (typeof value === 'boolean') return value ? '1' : '0'
  return value === null ? null : String(value)
}

/** Returns the natural type of a value, for statements from which none can be inferred. */
export function typeOf(value: SqlParameter): number {
  if (typeof value === 'boolean') return oids.bool
  if (typeof value === 'number') return Number.isSafeInteger(value) ? oids.bigint : oids.double
  return oids.text
}

export function fromText(text: string | null, type: number): SqlValue {
  if (text === null) return null
  if (type === oids.bool) return text === 't'
  if (oids.integers.includes(type)) return exactInteger(text)
  if (oids.floats.includes(type)) return finite(text)
  if (type === oids.numeric) return exactDecimal(text)
  if (type === oids.bytea) return { base64: Buffer.from(text.slice(2), 'hex').toString('base64') }
  return text
}

function exactInteger(text: string): SqlValue {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : text
}

/** Returns a number, or a text for Infinity and NaN, which JSON lacks. */
function finite(text: string): SqlValue {
  const value = Number(text)
  return Number.isFinite(value) ? value : text
}

/** Returns a number if JavaScript can represent the decimal, else its text. */
function exactDecimal(text: string): SqlValue {
  const value = finite(text)
  // An average of whole numbers has at least sixteen places, also as zeros.
  const shortest = text.replace(/\.0*$|(\.\d*[1-9])0+$/, '$1')
  const digits = shortest
    .replace(/e.*$/i, '')
    .replace(/^-?0*\.?0*/, '')
    .replace('.', '')
  return digits.length <= 15 || String(value) === shortest ? value : text
}
