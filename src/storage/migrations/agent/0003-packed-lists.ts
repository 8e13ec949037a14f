import type { Migration } from 'kysely/migration'
import type { SchemaParts } from '../../engine.ts'

/** On PostgreSQL: adds packed lists of terms, which are read at once, to the full-text index. */
export function packedLists(parts: SchemaParts): Migration {
  return { up: db => parts.packFullText(db) }
}
