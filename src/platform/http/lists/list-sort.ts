import { invalid } from '../../errors.ts'

/** The value that a row is sorted by. */
export type SortValue = string | number

/** One field of a sort, by the callers' name. */
export interface Sorted {
  field: string
  descending: boolean
}

interface SortParameters {
  sort?: string[]
  order?: string[]
}

/**
 * Reads `sort` and `order`: fields and orders separated by commas, repeated parameters, or both. Defaults to
 * the fallback in the requested order. Throws VALIDATION_ERROR for an unknown or repeated field or order.
 */
export function readSort(
  parameters: SortParameters,
  sortable: readonly string[],
  fallback: readonly Sorted[],
): Sorted[] {
  const orders = words(parameters.order)
  const wrong = orders.find(order => order !== 'asc' && order !== 'desc')
  if (wrong !== undefined) throw invalid('order', `must be asc or desc, not ${wrong}`)
  const fields = words(parameters.sort)
  const unknown = fields.find(field => !sortable.includes(field))
  if (unknown !== undefined) throw invalid('sort', `must be one of ${sortable.join(', ')}, not ${unknown}`)
  if (new Set(fields).size < fields.length) throw invalid('sort', 'must name each field once')
  const chosen = fields.length > 0 ? fields.map(field => ({ field, descending: false })) : fallback
  return chosen.map(({ field, descending }, index) => {
    const order = orders[index]
    return { field, descending: order === undefined ? descending : order === 'desc' }
  })
}

function words(values: string[] = []): string[] {
  return values
    .flatMap(value => value.split(','))
    .map(word => word.trim())
    .filter(word => word !== '')
}
