import { invalid } from '../errors.ts'
import { decodeCursor, encodeCursor } from './list-cursor.ts'
import type { ListParameters, Page } from './list-query.ts'
import { defaultLimit, sortWords } from './list-query.ts'

/**
 * The generic list over values in memory, for short lists that stand in no table: every text or number field sorts,
 * every text field is searched, and the given order is kept unless a sort is asked for.
 */
export function listValues<Value extends object>(
  values: readonly Value[],
  parameters: ListParameters,
): Page<Value> {
  const { search = '', limit = defaultLimit, offset = 0, cursor } = parameters
  const found = sortValues(
    values.filter(value => matches(value, search.toLowerCase())),
    parameters,
  )
  const start = cursor ? Number(decodeCursor(placeSort, cursor)[0]) : offset
  const rows = found.slice(start, start + limit)
  const meta = { total: found.length, limit, offset }
  if (cursor === undefined) return { rows, meta }
  const has_more = start + limit < found.length
  return {
    rows,
    meta: { ...meta, next_cursor: has_more ? encodeCursor(placeSort, [start + limit]) : null, has_more },
  }
}

/** A list in memory is cut by position: its cursor is a place, whatever the sort. */
const placeSort = [{ field: 'place', descending: false }]

function matches(value: object, search: string): boolean {
  return (
    search === '' ||
    Object.values(value).some(text => typeof text === 'string' && text.toLowerCase().includes(search))
  )
}

function sortValues<Value extends object>(values: Value[], parameters: ListParameters): Value[] {
  const fields = sortWords(parameters.sort)
  const orders = sortWords(parameters.order)
  const [first] = values
  for (const field of fields)
    if (first !== undefined && !isSortable(first, field))
      throw invalid(
        'sort',
        `must be one of ${Object.keys(first)
          .filter(name => isSortable(first, name))
          .join(', ')}, not ${field}`,
      )
  return values.toSorted((one, other) => {
    for (const [index, field] of fields.entries()) {
      const order = compare(fieldOf(one, field), fieldOf(other, field))
      if (order !== 0) return orders[index] === 'desc' ? -order : order
    }
    return 0
  })
}

function isSortable(value: object, field: string): boolean {
  return Object.hasOwn(value, field) && ['string', 'number', 'boolean'].includes(typeof fieldOf(value, field))
}

function fieldOf(value: object, field: string): string | number | boolean {
  return value[field as keyof typeof value]
}

function compare(one: string | number | boolean, other: string | number | boolean): number {
  return one === other ? 0 : one < other ? -1 : 1
}
