import { type QueryExecutorProvider, sql } from 'kysely'
import type { SqlTable } from '../sql-runner.ts'
import { isListed } from '../table-access.ts'

interface Row {
  table: string
  column: string
  type: string
  notnull: number
  pk: number
}

/** Lists tables and views that are not hidden, by name. */
export async function describe(db: QueryExecutorProvider): Promise<SqlTable[]> {
  const { rows } = await sql<Row>`
    select tables.name as "table", columns.name as "column", columns.type, columns."notnull", columns.pk
    from pragma_table_list as tables, pragma_table_xinfo(tables.name) as columns
    where tables.schema = 'main' and tables.type <> 'shadow' and columns.hidden <> 1
    order by tables.name, columns.cid
  `.execute(db)
  const tables = Map.groupBy(rows, ({ table }) => table)
  return [...tables]
    .filter(([name]) => isListed(name))
    .map(([name, columns]) => ({
      name,
      columns: columns.map(({ column, type, notnull, pk }) => ({
        name: column,
        type: typeOf(type),
        nullable: notnull === 0 && pk === 0,
      })),
    }))
}

/** Returns the storage class of a type: https://sqlite.org/datatype3.html#determination_of_column_affinity */
function typeOf(declared: string): string {
  const type = declared.toLowerCase()
  if (type.includes('int')) return 'integer'
  if (/char|clob|text/.test(type)) return 'text'
  if (type === '' || type.includes('blob')) return 'blob'
  return /real|floa|doub/.test(type) ? 'real' : type
}
