import { type ExpressionBuilder, type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from 'kysely'
import { type TSchema, Type } from 'typebox'
import type { NameOf } from '../../columns.ts'
import { orNull } from '../../own-schemas.ts'
import { decodeCursor, encodeCursor } from './list-cursor.ts'
import { readDates } from './list-dates.ts'
import { readSort, type Sorted, type SortValue } from './list-sort.ts'

/** Query parameters of every list; a route adds its own filters beside them. */
export const listParameters = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1000,
      description: 'Maximum number of entries per page. Default: 50.',
    }),
  ),
  offset: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Number of entries to skip. Default: 0.',
    }),
  ),
  search: Type.Optional(
    Type.String({ maxLength: 500, description: 'Text to search for, case-insensitively.' }),
  ),
  sort: Type.Optional(Type.Array(Type.String(), { description: 'Comma-separated fields to sort by.' })),
  order: Type.Optional(Type.Array(Type.String(), { description: '`asc` or `desc` for each sort field.' })),
  from: Type.Optional(Type.String({ description: 'Earliest time, ISO 8601.' })),
  to: Type.Optional(
    Type.String({ description: 'Latest time, ISO 8601. A date without a time means the end of that day.' }),
  ),
  cursor: Type.Optional(
    Type.String({
      maxLength: 4000,
      description: 'Empty for the first page, then the `meta.next_cursor` of the page before.',
    }),
  ),
}

/** Returns a query parameter that filters a list: it takes several values. */
export function filterBy<Value extends TSchema>(value: Value) {
  return Type.Optional(Type.Array(value, { description: 'Return only entries with one of these values.' }))
}

/** `meta` of a list; `next_cursor` is present if the request carried a `cursor`. */
export const listMetaSchema = Type.Object({
  total: Type.Integer(),
  limit: Type.Integer(),
  offset: Type.Integer(),
  has_more: Type.Boolean({ description: 'Whether there are more entries after this page.' }),
  next_cursor: Type.Optional(orNull(Type.String())),
})

export interface ListParameters {
  limit?: number
  offset?: number
  search?: string
  sort?: string[]
  order?: string[]
  from?: string
  to?: string
  cursor?: string
}

/**
 * The sorting and searching of a list, made by `listOf`. Columns are ours, never the caller's text, and `Row`
 * has those for sorting and dates. Select from a query to sort by its computed or joined values.
 */
export interface ListDefinition<Row> {
  /** Sortable wire fields and the columns that order them. */
  sortable: Readonly<Record<string, SortColumn>>
  /** Fields in their order. */
  defaultSort: readonly [string, ...string[]]
  defaultOrder: 'asc' | 'desc'
  /** All columns for sorting and dates. */
  columns: readonly NameOf<Row>[]
  /** Columns that are searched in the tables, so that rows need not hold them. */
  searchable: readonly string[]
  /** Column that `from` and `to` bound. */
  dateColumn: string
  /** Unique column that ends every order, so that pages never overlap. */
  unique: SortColumn
  /** Never set: the field requires that a query selects these columns. */
  readonly takes?: (row: Row) => void
}

interface SortColumn {
  column: string
  /** Replaces null, whose place differs by engine; absent if never null, so an index serves the order. */
  whenNull?: SortValue
  /** Not every engine compares numbers with a text from a cursor. */
  numeric?: true
}

export interface ListMeta {
  total: number
  limit: number
  offset: number
  has_more: boolean
  next_cursor?: string | null
}

export interface Page<Row> {
  rows: Row[]
  meta: ListMeta
}

type SortField = Sorted & SortColumn

export const defaultLimit = 50

/**
 * Reads one page: filters, counts, sorts and cuts the query by the parameters. `fitting` returns the number
 * of found rows that make a page, if entries can be too large for the requested number. Throws
 * VALIDATION_ERROR for an unknown sort field, a bad order, date or cursor.
 */
export async function listRows<Database, Table extends keyof Database, Row extends object>(
  query: SelectQueryBuilder<Database, Table, Row>,
  definition: ListDefinition<NoInfer<Row>>,
  parameters: ListParameters,
  fitting: (found: readonly Row[]) => number = found => found.length,
): Promise<Page<Row>> {
  const sort = sortFields(definition, parameters)
  const limit = parameters.limit ?? defaultLimit
  const offset = parameters.offset ?? 0
  const searched = withSearch(query, definition.searchable, parameters.search)
  const filtered = withDates(searched, definition.dateColumn, parameters)
  const paged = parameters.cursor ? afterCursor(filtered, sort, parameters.cursor) : filtered.offset(offset)
  // One row more than requested shows whether another page follows.
  const found = await orderBy(paged, sort)
    .limit(limit + 1)
    .execute()
  const rows = found.slice(0, Math.min(limit, fitting(found)))
  // The last page shows the total, unless it begins at a cursor, or behind the end.
  const isCounted = !parameters.cursor && found.length <= limit && (found.length > 0 || offset === 0)
  const total = isCounted ? offset + found.length : await count(filtered)
  const has_more = found.length > rows.length
  const meta: ListMeta = { total, limit, offset, has_more }
  if (parameters.cursor === undefined) return { rows, meta }
  const last = rows.at(-1)
  const next_cursor = has_more && last !== undefined ? encodeCursor(sort, placeOf(last, sort)) : null
  return { rows, meta: { ...meta, next_cursor } }
}

function sortFields(
  {
    sortable,
    defaultSort,
    defaultOrder,
    unique,
  }: Pick<ListDefinition<never>, 'sortable' | 'defaultSort' | 'defaultOrder' | 'unique'>,
  parameters: ListParameters,
): SortField[] {
  const fallback = defaultSort.map(field => ({ field, descending: defaultOrder === 'desc' }))
  const sorted = readSort(parameters, Object.keys(sortable), fallback)
  const fields = sorted.flatMap(({ field, descending }): SortField[] => {
    const known = sortable[field]
    return known === undefined ? [] : [{ ...known, field, descending }]
  })
  const end = fields.findIndex(({ column }) => column === unique.column)
  // Columns after a unique one order nothing.
  if (end >= 0) return fields.slice(0, end + 1)
  const descending = sorted.at(-1)?.descending ?? false
  return [...fields, { ...unique, field: '', descending }]
}

function withSearch<Database, Table extends keyof Database, Row>(
  query: SelectQueryBuilder<Database, Table, Row>,
  searchable: readonly string[],
  search: string | undefined,
) {
  if (search === undefined || search === '') return query
  return query.where(builder => builder.or(searchable.map(column => containsText(sql.ref(column), search))))
}

/** A condition that a column holds a text, in any letter case. */
export function containsText(column: RawBuilder<unknown>, text: string) {
  return holds(column, text.toLowerCase())
}

/**
 * A condition that a column holds a text in lower case. The engines' own `lower` knows only ASCII letters,
 * and takes a fraction of the time of `fold_case`, which so is left to rows that `lower` cannot decide.
 */
function holds(column: RawBuilder<unknown>, folded: string) {
  const inAnyCase = contains(sql`fold_case(${column})`, folded)
  if (isAscii.test(folded)) {
    const inAscii = contains(sql`lower(${column})`, folded)
    if (!/[ik]/.test(folded)) return inAscii
    // Only two other letters become one of ASCII: the Kelvin sign, and the capital I with a dot.
    const others = sql<SqlBool>`(${contains(column, '\u212a')} or ${contains(column, '\u0130')})`
    return sql<SqlBool>`(${inAscii} or (${others} and ${inAnyCase}))`
  }
  const parts = folded.match(partsOfOneCase)?.toSorted((one, other) => other.length - one.length)
  if (parts?.[0] === undefined) return inAnyCase
  // A `case`, because a server can choose the order of conditions.
  return sql<SqlBool>`case when ${contains(sql`lower(${column})`, parts[0])} then ${inAnyCase} else 1 = 0 end`
}

const isAscii = /^[\x20-\x7e]*$/
/** Letters that nothing beyond ASCII becomes. */
const partsOfOneCase = /[\x20-hjl-\x7e]+/g

function contains(text: RawBuilder<unknown>, part: string) {
  return sql<SqlBool>`${text} like ${`%${part.replace(/[\\%_]/g, '\\$&')}%`} escape '\\'`
}

function withDates<Database, Table extends keyof Database, Row>(
  query: SelectQueryBuilder<Database, Table, Row>,
  dateColumn: string,
  parameters: ListParameters,
) {
  const { from, to } = readDates(parameters)
  const column = sql.ref(dateColumn)
  let bounded = query
  if (from !== undefined) bounded = bounded.where(sql<SqlBool>`${column} >= ${from}`)
  if (to !== undefined) bounded = bounded.where(sql<SqlBool>`${column} <= ${to}`)
  return bounded
}

async function count<Database, Table extends keyof Database, Row>(
  query: SelectQueryBuilder<Database, Table, Row>,
) {
  const row = await query.clearSelect().select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow()
  return Number((row as { total: number | string }).total)
}

function orderBy<Database, Table extends keyof Database, Row>(
  query: SelectQueryBuilder<Database, Table, Row>,
  sort: SortField[],
) {
  return sort.reduce(
    (ordered, field) => ordered.orderBy(expression(field), field.descending ? 'desc' : 'asc'),
    query,
  )
}

function expression({ column, whenNull }: SortField) {
  return whenNull === undefined ? sql.ref(column) : sql`coalesce(${sql.ref(column)}, ${sql.lit(whenNull)})`
}

/** Selects rows behind the cursor: greater in the first field, or equal there and greater in the next, … */
function afterCursor<Database, Table extends keyof Database, Row>(
  query: SelectQueryBuilder<Database, Table, Row>,
  sort: SortField[],
  cursor: string,
) {
  const values = decodeCursor(
    sort,
    sort.map(({ numeric }) => (numeric ? 'number' : 'string')),
    cursor,
  )
  return query.where((builder: ExpressionBuilder<Database, Table>) =>
    builder.or(
      sort.map((field, index) =>
        builder.and([
          ...sort
            .slice(0, index)
            .map((before, at) => sql<SqlBool>`${expression(before)} = ${place(before, values[at])}`),
          field.descending
            ? sql<SqlBool>`${expression(field)} < ${place(field, values[index])}`
            : sql<SqlBool>`${expression(field)} > ${place(field, values[index])}`,
        ]),
      ),
    ),
  )
}

/** A cursor can hold any number, also one that the column has no room for. */
function place({ numeric }: SortField, value: SortValue | undefined) {
  return numeric ? sql`cast(${value} as double precision)` : sql`${value}`
}

function placeOf(row: object, sort: SortField[]): SortValue[] {
  const values = new Map<string, unknown>(Object.entries(row))
  return sort.map(({ column, whenNull }) => (values.get(column) ?? whenNull) as SortValue)
}
