import type { Selectable } from 'kysely'
import type { Columns, NameOf, RowOf } from '../../columns.ts'
import type { ListDefinition } from './list-query.ts'

interface Options<Of, Sorted, Dated, Unique> {
  /** Fields for sorting: columns, or names of fields with their columns. */
  sortable: readonly Sorted[] | Readonly<Record<string, Sorted>>
  searchable?: readonly NameOf<Of>[]
  /** The column that `from` and `to` bound; defaults to `created_at`. */
  date?: Dated
  /** The default fields for sorting; defaults to the field of `date`. */
  by?: readonly [string, ...string[]]
  /** The default order; defaults to `desc`. */
  order?: 'asc' | 'desc'
  /** The column without equal values that ends every order; defaults to `id`. */
  unique?: Unique
}

/** Returns the list over declared columns; computed columns are declared beside those of tables. */
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

/** Sorts null by a value, because engines disagree on its place. */
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
