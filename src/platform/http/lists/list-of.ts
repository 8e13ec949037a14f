import type { Selectable } from 'kysely'
import type { Columns, NameOf, RowOf } from '../../columns.ts'
import type { ListDefinition } from './list-query.ts'

interface Options<Of, Sorted, Dated, Unique> {
  /** Fields that callers may sort by: columns, or names of fields with their columns. */
  sortable: readonly Sorted[] | Readonly<Record<string, Sorted>>
  searchable?: readonly NameOf<Of>[]
  /** The column that `from` and `to` bound; `created_at` unless given. */
  date?: Dated
  /** The fields that it is sorted by unless others are requested; the one of `date` unless given. */
  by?: readonly [string, ...string[]]
  /** `desc` unless given. */
  order?: 'asc' | 'desc'
  /** The column without equal values that ends every order; `id` unless given. */
  unique?: Unique
}

/** The list over declared columns; those that a query computes are declared beside those of its tables. */
export function listOf<
  Of extends Columns,
  Sorted extends NameOf<Of>,
  Dated extends NameOf<Of> = NameOf<Of> & 'created_at',
  Unique extends NameOf<Of> = NameOf<Of> & 'id',
>(columns: Of, options: Options<Of, Sorted, Dated, Unique>) {
  const { sortable, searchable = [], date = 'created_at', unique = 'id', order = 'desc' } = options
  const fields = Array.isArray(sortable) ? sortable.map(name => [name, name]) : Object.entries(sortable)
  const definition: unknown = {
    sortable: Object.fromEntries(fields.map(([field, name]) => [field, sortColumn(columns, name)])),
    columns: [...new Set([...fields.map(([, name]) => name), date, unique])],
    defaultSort: options.by ?? [date],
    defaultOrder: order,
    searchable,
    dateColumn: sortColumn(columns, date).column,
    unique: sortColumn(columns, unique),
  }
  return definition as ListDefinition<Selectable<RowOf<Pick<Of, Sorted | Dated | Unique>>>>
}

/** Engines disagree on where null belongs, so a value takes its place. */
function sortColumn(columns: Columns, name: string) {
  const column = columns[name]
  if (column === undefined) throw new Error(`the list has no column ${name}`)
  const isNumeric = column.type !== 'text'
  return {
    column: name,
    ...(isNumeric && { numeric: true }),
    ...(column.isNullable && { whenNull: isNumeric ? 0 : '' }),
  }
}
