import type { Migration } from 'kysely/migration'
import type { SchemaParts } from '../../engine.ts'

/** On PostgreSQL: converts the full-text index to a form in which the chunks that contain a term are fast to read. */
export function termLists(parts: SchemaParts): Migration {
  return { up: db => parts.renewFullText(db) }
}
