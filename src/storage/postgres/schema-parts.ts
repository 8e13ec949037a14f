import { type QueryExecutorProvider, sql } from 'kysely'
import type { SchemaParts } from '../schema-parts.ts'
import { createFullText } from './full-text/full-text.ts'

export const schemaParts: SchemaParts = {
  textType: sql<string>`text collate "C"`,
  bytesType: 'bytea',
  sequenceType: 'bigserial',
  sequenceReference: 'bigint',
  sequence: column => column.primaryKey(),
  reference: sql.ref,
  expression: text => sql.raw(text),
  newId: sql`replace(gen_random_uuid()::text, '-', '')`,
  now: sql`to_char(now() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
  shortLived: table => table.modifyFront(sql`unlogged`),
  createFoldCase,
  createFullText,
}

/**
 * The Unicode collation knows the letters of all languages; a server built without it falls back to those of its own
 * locale.
 */
async function createFoldCase(db: QueryExecutorProvider): Promise<void> {
  const unicode = 'und-x-icu'
  const { rows } = await sql`select 1 from pg_collation where collname = ${unicode}`.execute(db)
  const collation = rows.length > 0 ? unicode : 'default'
  await sql`create function fold_case(value text) returns text language sql immutable strict parallel safe
    return lower(value collate ${sql.ref(collation)})`.execute(db)
}
