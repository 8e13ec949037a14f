import type { Migration } from 'kysely/migration'
import type { SchemaParts } from '../../engine.ts'

/** On PostgreSQL: the full-text index in a form from which the chunks that hold a term are quickly read. */
export function termLists(parts: SchemaParts): Migration {
  return { up: db => parts.renewFullText(db) }
}
