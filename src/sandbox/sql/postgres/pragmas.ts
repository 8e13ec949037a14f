/** SQLite's allowed PRAGMAs as queries on PostgreSQL's catalogs, with the same columns where possible. */
import { type QueryExecutorProvider, type RawBuilder, sql } from 'kysely'
import { isOwnRelation } from '#storage/postgres/connections/own-relations.ts'
import {
  type DescribingPragma,
  isDescribing,
  isReadOnlyPragma,
  isReporting,
  type ReportingPragma,
  refusedPragma,
} from '../pragmas.ts'
import type { Problem } from '../problem.ts'
import type { SqlResult, SqlValue } from '../sql-runner.ts'
import { accessTo, isListed } from '../table-access.ts'
import type { Token } from '../tokens.ts'

export interface Pragma {
  name: string
  argument: string | null
}

/** Reads `PRAGMA [schema.]name`, with an argument in brackets or after an equals sign. */
export function readPragma(tokens: readonly Token[]): Pragma | Problem {
  const texts = tokens.slice(1).map(({ kind, text }) => (kind === 'text' ? text.slice(1, -1) : text))
  const [name, ...rest] = texts[1] === '.' ? texts.slice(2) : texts
  const [mark, argument, ...end] = rest
  const isCall = mark === '(' && end.length === 1 && end[0] === ')'
  const isComplete = mark === undefined || isCall || (mark === '=' && argument !== undefined)
  if (name === undefined || !isComplete)
    return { kind: 'invalid', message: 'is no PRAGMA name or PRAGMA name(argument)' }
  return { name: name.toLowerCase(), argument: argument ?? null }
}

/** @param db a connection of the service's own user: the output of PRAGMAs is restricted here. */
export async function runPragma(
  db: QueryExecutorProvider,
  { name, argument }: Pragma,
  maxRows: number,
): Promise<SqlResult | Problem> {
  const isAllowed = isReadOnlyPragma(name, argument)
  if (!isAllowed) return { kind: 'forbidden', message: refusedPragma(name) }
  if (argument !== null && accessTo(argument).kind === 'hidden')
    return {
      kind: 'forbidden',
      message: `The table ${argument} is the service's own and not accessible here.`,
    }
  const { rows } = await queryFor(name, argument ?? '').execute(db)
  const shown = name === 'table_list' ? rows.filter(row => isListed(String(row.name))) : rows
  const [first] = shown
  return {
    columns: Object.keys(first ?? {}),
    rows: shown.slice(0, maxRows).map(row => Object.values(row)),
    rowCount: Math.min(shown.length, maxRows),
    truncated: shown.length > maxRows,
  }
}

type Query = RawBuilder<Record<string, SqlValue>>

function queryFor(name: string, argument: string): Query {
  if (isDescribing(name)) return describing[name](argument)
  if (isReporting(name)) return reporting[name]
  throw new Error(`no query for PRAGMA ${name}`)
}

const inSchema = sql`relnamespace = current_schema()::regnamespace`

function columnsOf(table: string, hidden: RawBuilder<unknown>): Query {
  return sql`
    select attnum - 1 as cid, attname as name, upper(format_type(atttypid, null)) as type,
      attnotnull::integer as notnull, pg_get_expr(adbin, adrelid) as dflt_value,
      coalesce(array_position(indkey::smallint[], attnum) + 1, 0) as pk ${hidden}
    from pg_class join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped
    left join pg_attrdef on adrelid = attrelid and adnum = attnum
    left join pg_index on indrelid = attrelid and indisprimary
    where ${inSchema} and relname = ${table} order by attnum`
}

const describing: Record<DescribingPragma, (argument: string) => Query> = {
  table_info: table => columnsOf(table, sql``),
  table_xinfo: table => columnsOf(table, sql`, 0 as hidden`),
  index_list: table => sql`
    select row_number() over (order by indexes.relname) - 1 as seq, indexes.relname as name,
      indisunique::integer as "unique", case when indisprimary then 'pk' else 'c' end as origin,
      (indpred is not null)::integer as partial
    from pg_index join pg_class as tables on tables.oid = indrelid join pg_class as indexes on indexes.oid = indexrelid
    where tables.${inSchema} and tables.relname = ${table} order by seq`,
  index_info: index => sql`
    select position - 1 as seqno, attnum - 1 as cid, attname as name
    from pg_class join pg_index on indexrelid = pg_class.oid
    cross join lateral unnest(indkey::smallint[]) with ordinality as keys (number, position)
    join pg_attribute on attrelid = indrelid and attnum = number
    where ${inSchema} and relname = ${index} order by position`,
  foreign_key_list: table => sql`
    select row_number() over (order by conname) - 1 as id, position - 1 as seq, targets.relname as "table",
      own.attname as "from", other.attname as "to", ${action('confupdtype')} as on_update, ${action('confdeltype')} as on_delete,
      'NONE' as match
    from pg_constraint join pg_class on pg_class.oid = conrelid join pg_class as targets on targets.oid = confrelid
    cross join lateral unnest(conkey, confkey) with ordinality as keys (number, target, position)
    join pg_attribute as own on own.attrelid = conrelid and own.attnum = number
    join pg_attribute as other on other.attrelid = confrelid and other.attnum = target
    where contype = 'f' and pg_class.${inSchema} and pg_class.relname = ${table} order by id, seq`,
}

function action(column: string): RawBuilder<unknown> {
  return sql`case ${sql.ref(column)} when 'c' then 'CASCADE' when 'n' then 'SET NULL' when 'd' then 'SET DEFAULT'
    when 'r' then 'RESTRICT' else 'NO ACTION' end`
}

const reporting: Record<ReportingPragma, Query> = {
  collation_list: sql`
    select row_number() over (order by collname) - 1 as seq, collname as name from pg_collation
    where collencoding in (-1, 6) order by seq`,
  encoding: sql`select 'UTF-8' as encoding`,
  foreign_keys: sql`select 1 as foreign_keys`,
  page_count: sql`
    select coalesce(sum(pg_table_size(oid)), 0)::bigint / current_setting('block_size')::bigint as page_count
    from pg_class where ${isOwnRelation} and relkind = 'r'`,
  page_size: sql`select current_setting('block_size')::integer as page_size`,
  table_list: sql`
    select current_schema() as schema, relname as name, case when relkind in ('v', 'm') then 'view' else 'table' end as type,
      relnatts as ncol, 0 as wr, 0 as strict
    from pg_class where ${isOwnRelation} and relkind in ('r', 'p', 'v', 'm', 'f') order by relname`,
  user_version: sql`select 0 as user_version`,
}
