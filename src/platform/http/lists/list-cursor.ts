import { type AppError, invalid } from '../../errors.ts'
import { unstorable } from '../requests/storable-text.ts'
import type { Sorted, SortValue } from './list-sort.ts'

/** Encodes an opaque place in a sorted list: its sort, and the values of the place in that sort. */
export function encodeCursor(sort: readonly Sorted[], place: readonly SortValue[]): string {
  return Buffer.from(JSON.stringify([signature(sort), ...place])).toString('base64url')
}

/** Throws VALIDATION_ERROR for a foreign cursor, or one of another sort; `kinds` are those of a place. */
export function decodeCursor(
  sort: readonly Sorted[],
  kinds: readonly ('number' | 'string')[],
  cursor: string,
): SortValue[] {
  const [belongsTo, ...place] = parse(cursor)
  if (belongsTo !== signature(sort) || place.length !== kinds.length) throw foreignCursor()
  return kinds.map((kind, index) => checkedValue(kind, place[index]))
}

function checkedValue(kind: 'number' | 'string', value: unknown): SortValue {
  if (kind === 'string' && typeof value === 'string' && unstorable(value) === undefined) return value
  if (kind === 'number' && typeof value === 'number' && Number.isFinite(value)) return value
  throw foreignCursor()
}

export function foreignCursor(): AppError {
  return invalid('cursor', 'must be a next_cursor of this list with the same sort and order')
}

function signature(sort: readonly Sorted[]): string {
  return sort.map(({ field, descending }) => `${descending ? '-' : '+'}${field}`).join(',')
}

function parse(cursor: string): unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return Array.isArray(parts) ? parts : []
  } catch {
    return []
  }
}
