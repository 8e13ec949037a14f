import type { QueryExecutorProvider } from 'kysely'
import { sql } from 'kysely'
import type { SchemaParts } from '../engine.ts'
import { createFullText, renewFullText } from './full-text/full-text.ts'
import { packFullText } from './full-text/packed-lists.ts'

export const schemaParts: SchemaParts = {
  textType: sql<string>`text collate "C"`,
  bytesType: 'bytea',
  sequenceType: 'bigserial',
  sequenceReference: 'bigint',
  sequence: column => column.primaryKey(),
  shortLived: table => table.modifyFront(sql`unlogged`),
  createFoldCase,
  createFullText,
  renewFullText,
  packFullText,
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
