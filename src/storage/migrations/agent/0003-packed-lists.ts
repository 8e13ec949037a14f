import type { Migration } from 'kysely/migration'
import type { SchemaParts } from '../../engine.ts'

/** On PostgreSQL: lists of terms that are read at once, beside the full-text index. */
export function packedLists(parts: SchemaParts): Migration {
  return { up: db => parts.packFullText(db) }
}
