import { type RawBuilder, sql } from 'kysely'
import type { Row } from './digest.ts'
import type { AnyDatabase } from './storage-end.ts'

/** Maximum number of rows of a page, and of their characters, so that neither many rows nor large ones fill the memory. */
const maxRows = 500
const maxCharacters = 4 * 1024 * 1024

interface Selection {
  table: string
  columns: readonly string[]
  /** The rows are sorted by these columns. */
  key: readonly [string, ...string[]]
  /** The condition of the rows; defaults to all. */
  where?: RawBuilder<unknown> | undefined
}

/** Yields all rows in pages that are read on demand. */
export async function* readPages(db: AnyDatabase, selection: Selection): AsyncGenerator<Row[]> {
  const { table, columns, key } = selection
  let after: Row | undefined
  for (;;) {
    const last = await lastOfPage(db, selection, after)
    if (last === undefined) return
    const { rows } = await sql<Row>`
      select ${sql.join(columns.map(column => sql.ref(column)))} from ${sql.table(table)}
      where ${beyond(selection, after)} and ${keyTuple(key)} <= ${values(key, last)} order by ${keyList(key)}
    `.execute(db)
    yield rows
    after = last
  }
}

/** Returns the last key of the next page, at which enough rows or enough text have been read. */
async function lastOfPage(
  db: AnyDatabase,
  selection: Selection,
  after: Row | undefined,
): Promise<Row | undefined> {
  const { table, columns, key } = selection
  const sizes = columns.map(column => sql`coalesce(length(cast(${sql.ref(column)} as text)), 0)`)
  const { rows } = await sql<Row & { characters: number }>`
    select ${keyList(key)}, ${sql.join(sizes, sql` + `)} as characters from ${sql.table(table)}
    where ${beyond(selection, after)} order by ${keyList(key)} limit ${maxRows}
  `.execute(db)
  let characters = 0
  const full = rows.findIndex(row => {
    characters += row.characters
    return characters >= maxCharacters
  })
  return rows[full === -1 ? rows.length - 1 : full]
}

function beyond({ key, where }: Selection, after: Row | undefined): RawBuilder<unknown> {
  const rest = after === undefined ? sql`true` : sql`${keyTuple(key)} > ${values(key, after)}`
  return where === undefined ? rest : sql`${where} and ${rest}`
}

function keyList(key: readonly string[]): RawBuilder<unknown> {
  return sql.join(key.map(column => sql.ref(column)))
}

function keyTuple(key: readonly string[]): RawBuilder<unknown> {
  return sql`(${keyList(key)})`
}

function values(key: readonly string[], row: Row): RawBuilder<unknown> {
  return sql`(${sql.join(key.map(column => row[column]))})`
}
