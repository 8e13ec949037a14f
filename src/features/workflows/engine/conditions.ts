import { isDeepStrictEqual } from 'node:util'
import type { Static } from 'typebox'
import { Type } from 'typebox'
import { textOf } from '#platform/templates/resolve-templates.ts'

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

/** Whether a condition holds, its templates resolved; a missing value is null. */
export function holds({ left, operator, right }: Condition): boolean {
  return tests[operator](left ?? null, right ?? null)
}

const tests: Record<Operator, (left: unknown, right: unknown) => boolean> = {
  eq: isEqual,
  ne: (left, right) => !isEqual(left, right),
  gt: (left, right) => compare(left, right) > 0,
  gte: (left, right) => compare(left, right) >= 0,
  lt: (left, right) => compare(left, right) < 0,
  lte: (left, right) => compare(left, right) <= 0,
  contains,
  not_contains: (left, right) => !contains(left, right),
  starts_with: (left, right) => textOf(left).startsWith(textOf(right)),
  ends_with: (left, right) => textOf(left).endsWith(textOf(right)),
  exists: left => left !== null,
  not_exists: left => left === null,
  empty: isEmpty,
  not_empty: left => !isEmpty(left),
  in: (left, right) => contains(right, left),
}

/** Numbers in texts compare as numbers. */
function numberOf(value: unknown): number {
  if (typeof value === 'string' && value.trim() !== '') return Number(value)
  return typeof value === 'number' ? value : Number.NaN
}

function isEqual(left: unknown, right: unknown): boolean {
  if (typeof left !== 'object' && typeof right !== 'object')
    return textOf(left) === textOf(right) || numberOf(left) === numberOf(right)
  return isDeepStrictEqual(left, right)
}

/** Not a number where one of two different things is greater than the other only by chance. */
function compare(left: unknown, right: unknown): number {
  const difference = numberOf(left) - numberOf(right)
  if (!Number.isNaN(difference) || typeof left !== 'string' || typeof right !== 'string') return difference
  return left < right ? -1 : Number(left > right)
}

function contains(whole: unknown, part: unknown): boolean {
  if (Array.isArray(whole)) return whole.some(entry => isEqual(entry, part))
  return whole !== null && textOf(whole).includes(textOf(part))
}

function isEmpty(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0
  return value === null || value === ''
}
