/** JSON whose numbers keep their written value, even if a double would round it. */
import { randomUUID } from 'node:crypto'
import { compareDecimals, decimalOf } from './decimal.ts'

/**
 * A number from JSON that a double can't hold. As a function, it counts as a value without parts: it has no
 * members, matches no schema's type, and can't be sent to a thread. As JSON and as text it is its digits.
 */
interface ExactNumber {
  /** Returns the written digits. */
  (): string
  toJSON(): unknown
}

declare global {
  interface JSON {
    /** Returns a value that `stringify` writes as this text. */
    rawJSON(text: string): object
  }
}

/** Up to 15 digits without an exponent are exact in a double. A false match within a text only costs time. */
const longNumber = /(?:^|[[:,\s])(?:[\d.-]{16}|-?[\d.]+[eE])/
const maxSafeLength = 15

/** Returns true if `parseJson` might differ from `JSON.parse`. */
export function mayBeInexact(json: string): boolean {
  return longNumber.test(json)
}

/** A string without an end reaches to the end of the text: else each quote in it would be tried. */
const stringOrNumber = /"(?:[^"\\]+|\\.?)*"?|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/gs
/** This pattern takes a fifth of the time, but finds numbers within strings, too. */
const loneNumber =
  /(?<=^|[[:,\s])-?(?=\d[\d.]{14}|[\d.]+[eE])(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?=[,\]}\s]|$)/g

type Write = (digits: string) => string

/** Returns the JSON with strings, which `write` gives, instead of numbers that a double would change. */
export function replaceNumbers(json: string, write: Write): string {
  return mayBeInexact(json) ? replaceFound(json, stringOrNumber, write) : json
}

function replaceFound(json: string, pattern: RegExp, write: Write): string {
  return json.replace(pattern, found =>
    found.startsWith('"') || isDouble(found) ? found : `"${write(found)}"`,
  )
}

/** Returns the same JSON with texts of the same digits instead of numbers that a double would change. */
export function withNumbersAsText(json: string): string {
  return replaceNumbers(json, digits => digits)
}

function isDouble(digits: string): boolean {
  if (digits.length <= maxSafeLength && !/[eE]/.test(digits)) return true
  const written = String(Number(digits))
  if (written === digits) return true
  const [one, other] = [decimalOf(written), decimalOf(digits)]
  return one !== undefined && other !== undefined && compareDecimals(one, other) === 0
}

/** A mark that cannot be guessed, so that no foreign text becomes a number. */
const mark = `number ${randomUUID()} `

/** Returns a text that `unmark` turns into an exact number, for libraries that parse JSON themselves. */
export const markNumber: Write = digits => mark + digits

/** Works like `JSON.parse`, except that a number which a double would change is an `ExactNumber`. */
export function parseJson(text: string) {
  if (!mayBeInexact(text)) return JSON.parse(text)
  for (const pattern of [loneNumber, stringOrNumber])
    try {
      return unmark(JSON.parse(replaceFound(text, pattern, markNumber)))
    } catch {
      // A mark within a string ends the string, which makes invalid JSON.
    }
  return JSON.parse(text)
}

/** Changes the value in place, however deep it is. */
export function unmark<Value>(value: Value): Value {
  const root: Parts = { value }
  const waiting = [root]
  for (let parts = waiting.pop(); parts !== undefined; parts = waiting.pop())
    for (const name of Object.keys(parts)) {
      const part = parts[name]
      if (typeof part === 'object' && part !== null) waiting.push(part as Parts)
      else if (typeof part === 'string' && part.startsWith(mark))
        parts[name] = exactNumber(part.slice(mark.length))
    }
  return root.value as Value
}

type Parts = Record<string, unknown>

function exactNumber(digits: string): ExactNumber {
  const json = JSON.rawJSON(digits)
  return Object.assign(() => digits, { toJSON: () => json, toString: () => digits })
}

export function isExactNumber(value: unknown): value is ExactNumber {
  return typeof value === 'function' && 'toJSON' in value
}

/** Returns the value with the nearest doubles instead of exact numbers, for checks against schemas. */
export function withDoubles<Value>(value: Value): Value {
  const json = JSON.stringify(value)
  return mayBeInexact(json) ? JSON.parse(json, finite) : value
}

function finite(_name: string, value: unknown): unknown {
  if (typeof value !== 'number' || Number.isFinite(value)) return value
  return Math.sign(value) * Number.MAX_VALUE
}
