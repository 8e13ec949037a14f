import type { Migration } from 'kysely/migration'
import type { SchemaParts } from '../../engine.ts'
import { firstTables } from './0001-first-tables.ts'
import { termLists } from './0002-term-lists.ts'
import { packedLists } from './0003-packed-lists.ts'

/** The names define the order, and must not change once released. */
export function agentMigrations(parts: SchemaParts): Record<string, Migration> {
  return {
    '0001-first-tables': firstTables(parts),
    '0002-term-lists': termLists(parts),
    '0003-packed-lists': packedLists(parts),
  }
}
