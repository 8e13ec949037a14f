/** JSON whose numbers keep the value that they were written with, also where a double would round it. */
import { compareDecimals, decimalOf } from './decimal.ts'

/**
 * A number from JSON that a double can't hold. It is a function so that all code takes it for a value without parts: it
 * is no object to look into, of no type of a schema, and can't be sent to a thread. As JSON and as text it is its digits.
 */
interface ExactNumber {
  /** The digits, as they were written. */
  (): string
  toJSON(): unknown
}

declare global {
  interface JSON {
    /** What `stringify` writes as this text. */
    rawJSON(text: string): object
  }
}

/** At most 15 digits without an exponent are exact in a double. What looks like more within a text costs time only. */
const longNumber = /(?:^|[[:,\s])(?:[\d.-]{16}|-?[\d.]+[eE])/
const maxSafeLength = 15

/** Whether `parseJson` may differ from `JSON.parse`. */
export function mayBeInexact(json: string): boolean {
  return longNumber.test(json)
}

interface Source {
  /** Of a number, as it is written. */
  source?: string
}

/** As `JSON.parse`, except that a number which a double would change is an `ExactNumber`. */
export function parseJson(text: string) {
  return mayBeInexact(text) ? JSON.parse(text, exactly) : JSON.parse(text)
}

function exactly(name: string, value: unknown, context: Source = {}): unknown {
  const kept = asText(name, value, context)
  return kept === value ? value : exactNumber(String(kept))
}

function exactNumber(digits: string): ExactNumber {
  const json = JSON.rawJSON(digits)
  return Object.assign(() => digits, { toJSON: () => json, toString: () => digits })
}

export function isExactNumber(value: unknown): value is ExactNumber {
  return typeof value === 'function' && 'toJSON' in value
}

/** The same JSON with texts of the same digits in the place of numbers that a double would change. */
export function withNumbersAsText(json: string): string {
  return mayBeInexact(json) ? JSON.stringify(JSON.parse(json, asText)) : json
}

function asText(_name: string, value: unknown, { source = '' }: Source = {}): unknown {
  if (typeof value !== 'number' || (source.length <= maxSafeLength && !/[eE]/.test(source))) return value
  return isSame(value, source) ? value : source
}

function isSame(value: number, source: string): boolean {
  const written = String(value)
  if (written === source) return true
  const [one, other] = [decimalOf(written), decimalOf(source)]
  return one !== undefined && other !== undefined && compareDecimals(one, other) === 0
}

/** The value with the nearest doubles in the place of exact numbers: for checks against schemas. */
export function withDoubles<Value>(value: Value): Value {
  const json = JSON.stringify(value)
  return mayBeInexact(json) ? JSON.parse(json, finite) : value
}

function finite(_name: string, value: unknown): unknown {
  if (typeof value !== 'number' || Number.isFinite(value)) return value
  return Math.sign(value) * Number.MAX_VALUE
}
