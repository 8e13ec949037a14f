import { invalid } from '../errors.ts'
import type { SortValue } from './list-query.ts'

interface Sorted {
  field: string
  descending: boolean
}

/** An opaque place in a sorted list: the sort it belongs to and the sort values of the last row that was sent. */
export function encodeCursor(sort: Sorted[], values: SortValue[]): string {
  return Buffer.from(JSON.stringify([signature(sort), ...values])).toString('base64url')
}

/** Throws VALIDATION_ERROR for a cursor that is not ours, or that belongs to another sort. */
export function decodeCursor(sort: Sorted[], cursor: string): SortValue[] {
  const parts = parse(cursor)
  const [belongsTo, ...values] = parts
  const fits = belongsTo === signature(sort) && values.length === sort.length
  if (!fits || !values.every(isSortValue))
    throw invalid('cursor', 'must be a next_cursor of this list with the same sort and order')
  return values
}

function signature(sort: Sorted[]): string {
  return sort.map(({ field, descending }) => `${descending ? '-' : '+'}${field}`).join(',')
}

function isSortValue(value: unknown): value is SortValue {
  return typeof value === 'string' || typeof value === 'number'
}

function parse(cursor: string): unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return Array.isArray(parts) ? parts : []
  } catch {
    return []
  }
}
