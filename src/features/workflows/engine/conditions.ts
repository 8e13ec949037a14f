import { type Static, Type } from 'typebox'
import { compareDecimals, type Decimal, decimalOf } from '#platform/decimal.ts'
import { AppError } from '#platform/errors.ts'
import { turn } from '#platform/event-loop/turns.ts'
import { isExactNumber } from '#platform/exact-json.ts'
import { textOf } from '#platform/templates/resolve-templates.ts'
import { sortableTime } from '#platform/time/written-time.ts'
import { includesText } from './includes-text.ts'

export const operators = [
  'eq',
  'ne',
  'gt',
  'gte',
  'lt',
  'lte',
  'contains',
  'not_contains',
  'starts_with',
  'ends_with',
  'exists',
  'not_exists',
  'empty',
  'not_empty',
  'in',
] as const
type Operator = (typeof operators)[number]

export const conditionSchema = Type.Object(
  {
    left: Type.Unknown(),
    operator: Type.Enum([...operators]),
    right: Type.Optional(Type.Unknown()),
  },
  { additionalProperties: false },
)
export type Condition = Static<typeof conditionSchema>

/** Max bytes of each side of a condition that searches a text. */
const maxTextBytes = 1024 * 1024

/** Returns true if all of the conditions hold, or any with mode `any`. */
export async function match(conditions: readonly Condition[], mode: 'all' | 'any' = 'all'): Promise<boolean> {
  const isAny = mode === 'any'
  for (const condition of conditions) if ((await holds(condition)) === isAny) return isAny
  return !isAny
}

/**
 * Evaluates a condition whose templates are resolved; a missing value is null. Takes linear time, spread over
 * turns of the event loop.
 * @throws VALIDATION_ERROR for a text that is too long to search.
 */
export async function holds({ left, operator, right }: Condition): Promise<boolean> {
  await turn()
  return await tests[operator](left ?? null, right ?? null)
}

const tests: Record<Operator, (left: unknown, right: unknown) => boolean | Promise<boolean>> = {
  eq: isEqual,
  ne: async (left, right) => !(await isEqual(left, right)),
  gt: (left, right) => compare(left, right) > 0,
  gte: (left, right) => compare(left, right) >= 0,
  lt: (left, right) => compare(left, right) < 0,
  lte: (left, right) => compare(left, right) <= 0,
  contains,
  not_contains: async (left, right) => !(await contains(left, right)),
  starts_with: async (left, right) => (await limitedText(left)).startsWith(await limitedText(right)),
  ends_with: async (left, right) => (await limitedText(left)).endsWith(await limitedText(right)),
  exists: left => left !== null,
  not_exists: left => left === null,
  empty: isEmpty,
  not_empty: left => !isEmpty(left),
  in: (left, right) => contains(right, left),
}

async function limitedText(value: unknown): Promise<string> {
  await turn()
  const text = textOf(value)
  const bytes = Buffer.byteLength(text)
  if (bytes <= maxTextBytes) return text
  const message = `A condition has a side of ${bytes} bytes; it searches texts of at most ${maxTextBytes} bytes.`
  throw new AppError('VALIDATION_ERROR', message)
}

interface ReadNumber extends Decimal {
  form: 'number' | 'text' | 'text with exponent'
}

/** Returns a number, or a text that is a number, by its decimal value; `0e12` is a text. */
function numberOf(value: unknown): ReadNumber | undefined {
  const isText = typeof value === 'string'
  if (!(isText || typeof value === 'number' || isExactNumber(value))) return undefined
  const text = String(value).trim()
  const number = decimalOf(text)
  if (number === undefined || !isText) return number && { ...number, form: 'number' }
  if (!/e/i.test(text)) return { ...number, form: 'text' }
  return number.sign === 0 ? undefined : { ...number, form: 'text with exponent' }
}

/** Texts with an exponent equal numbers, but not other texts: `12e3` and `120e2` might be two ids. */
function areSameNumbers(one: ReadNumber | undefined, other: ReadNumber | undefined): boolean {
  const forms = [one?.form, other?.form]
  if (forms.includes('text with exponent') && !forms.includes('number')) return false
  return difference(one, other) === 0
}

/** Returns NaN if one of the two is no number. */
function difference(one: ReadNumber | undefined, other: ReadNumber | undefined): number {
  return one === undefined || other === undefined ? Number.NaN : compareDecimals(one, other)
}

function isEqual(left: unknown, right: unknown): Promise<boolean> {
  return equalTo(right)(left)
}

/** Reads the value once for any number of comparisons. */
function equalTo(value: unknown): (other: unknown) => Promise<boolean> {
  if (typeof value === 'object') {
    // Equal values have JSON of equal length, which is cheap to compare.
    const { length } = JSON.stringify(value)
    return async other => {
      await turn()
      return (
        typeof other === 'object' && JSON.stringify(other).length === length && (await isSame(value, other))
      )
    }
  }
  const [text, number, time] = [textOf(value), numberOf(value), sortableTime(value)]
  return async other =>
    typeof other !== 'object' &&
    (textOf(other) === text ||
      areSameNumbers(numberOf(other), number) ||
      (time !== undefined && sortableTime(other) === time))
}

/** Compares two JSON values, ignoring the order of keys. */
async function isSame(one: unknown, other: unknown): Promise<boolean> {
  if (isExactNumber(one)) return isExactNumber(other) && areSameNumbers(numberOf(one), numberOf(other))
  if (!(isObject(one) && isObject(other))) return one === other
  await turn()
  const names = Object.keys(one)
  if (Array.isArray(one) !== Array.isArray(other) || names.length !== Object.keys(other).length) return false
  for (const name of names)
    if (!(Object.hasOwn(other, name) && (await isSame(one[name], other[name])))) return false
  return true
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** Returns NaN for values that have no order. */
function compare(left: unknown, right: unknown): number {
  const compared = difference(numberOf(left), numberOf(right))
  if (!Number.isNaN(compared) || typeof left !== 'string' || typeof right !== 'string') return compared
  const [one, other] = [sortableTime(left), sortableTime(right)]
  if (one !== undefined && other !== undefined) return one < other ? -1 : Number(one > other)
  return left < right ? -1 : Number(left > right)
}

async function contains(whole: unknown, part: unknown): Promise<boolean> {
  if (!Array.isArray(whole))
    return whole !== null && (await includesText(await limitedText(whole), await limitedText(part)))
  const isPart = equalTo(part)
  for (const entry of whole) {
    await turn()
    if (await isPart(entry)) return true
  }
  return false
}

function isEmpty(value: unknown): boolean {
  if (isObject(value)) return Object.keys(value).length === 0
  return value === null || value === ''
}
