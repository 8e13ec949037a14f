import { type QueryExecutorProvider, sql } from 'kysely'
import { isOwnRelation } from '#storage/postgres/connections/own-relations.ts'
import type { SqlTable } from '../sql-runner.ts'
import { isListed } from '../table-access.ts'

interface Row {
  table: string
  column: string
  type: string
  notnull: boolean
}

/** Lists tables and views that are not hidden, by name. */
export async function describe(db: QueryExecutorProvider): Promise<SqlTable[]> {
  const { rows } = await sql<Row>`
    select relname as "table", attname as "column", format_type(atttypid, null) as type, attnotnull as notnull
    from pg_class join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped
    where ${isOwnRelation} and relkind in ('r', 'p', 'v', 'm', 'f')
    order by relname collate "C", attnum
  `.execute(db)
  const tables = Map.groupBy(rows, ({ table }) => table)
  return [...tables]
    .filter(([name]) => isListed(name))
    .map(([name, columns]) => ({
      name,
      columns: columns.map(({ column, type, notnull }) => ({
        name: column,
        type: typeOf(type),
        nullable: !notnull,
      })),
    }))
}

const names = new Map([
  ['smallint', 'integer'],
  ['bigint', 'integer'],
  ['character varying', 'text'],
  ['character', 'text'],
  ['bytea', 'blob'],
  ['double precision', 'real'],
])

/** Returns the type's name, which is SQLite's for an equivalent. */
function typeOf(type: string): string {
  return names.get(type) ?? type
}
