import { sql } from 'kysely'
import type { SchemaParts } from '../schema-parts.ts'
import { createFullText } from './full-text/full-text.ts'

export const schemaParts: SchemaParts = {
  textType: 'text',
  bytesType: 'blob',
  sequenceType: 'integer',
  sequenceReference: 'integer',
  sequence: column => column.primaryKey().autoIncrement(),
  reference: sql.ref,
  expression: text => sql.raw(text),
  newId: sql`(lower(hex(randomblob(16))))`,
  now: sql`(strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))`,
  shortLived: table => table,
  // Every connection registers the function itself, because SQLite does not store functions.
  createFoldCase: async () => {},
  createFullText,
}
