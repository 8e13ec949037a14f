import { decodeCursor, encodeCursor, foreignCursor } from './list-cursor.ts'
import { readDates } from './list-dates.ts'
import { defaultLimit, type ListParameters, type Page } from './list-query.ts'
import { readSort, type Sorted } from './list-sort.ts'

/**
 * The generic list over values in memory, for short lists that are in no table: every field with text,
 * numbers or booleans can be sorted by, every text field is searched, and the given order is kept unless a
 * sort is requested. `fitting` returns the number of found values that make a page.
 */
export function listValues<Value extends object>(
  values: readonly Value[],
  parameters: ListParameters,
  fitting: (found: readonly Value[]) => number = found => found.length,
): Page<Value> {
  const { search = '', limit = defaultLimit, offset = 0, cursor } = parameters
  // Values without a date can't be filtered by one, but an invalid date is refused all the same.
  readDates(parameters)
  // An empty list does not show its fields.
  const sort = values.length === 0 ? [] : readSort(parameters, sortableFields(values), [])
  const found = values.filter(value => matches(value, search.toLowerCase())).toSorted(comparison(sort))
  const start = cursor ? placeOf(sort, cursor) : offset
  const page = found.slice(start, start + limit)
  const rows = page.slice(0, fitting(page))
  const end = start + rows.length
  const has_more = end < found.length
  const meta = { total: found.length, limit, offset, has_more }
  if (cursor === undefined) return { rows, meta }
  return { rows, meta: { ...meta, next_cursor: has_more ? encodeCursor(sort, [end]) : null } }
}

/** Returns a cursor's position, by which a list in memory is cut. */
function placeOf(sort: readonly Sorted[], cursor: string): number {
  const [place] = decodeCursor(sort, ['number'], cursor)
  if (typeof place !== 'number' || !Number.isSafeInteger(place) || place < 0) throw foreignCursor()
  return place
}

function matches(value: object, search: string): boolean {
  return (
    search === '' ||
    Object.values(value).some(text => typeof text === 'string' && text.toLowerCase().includes(search))
  )
}

/** Returns fields that some value has; values without the field sort first. */
function sortableFields(values: readonly object[]): string[] {
  const fields = values.flatMap(value => Object.entries(value))
  return [...new Set(fields.filter(([, value]) => isSortable(value)).map(([name]) => name))]
}

type Sortable = string | number | boolean

function isSortable(value: unknown): value is Sortable {
  return ['string', 'number', 'boolean'].includes(typeof value)
}

function comparison(sort: readonly Sorted[]): (one: object, other: object) => number {
  return (one, other) => {
    for (const { field, descending } of sort) {
      const order = compare(fieldOf(one, field), fieldOf(other, field))
      if (order !== 0) return descending ? -order : order
    }
    return 0
  }
}

function fieldOf(value: object, field: string): Sortable {
  const found: unknown = value[field as keyof typeof value]
  return isSortable(found) ? found : ''
}

function compare(one: Sortable, other: Sortable): number {
  return one === other ? 0 : one < other ? -1 : 1
}
