import type { Migration } from 'kysely/migration'
import type { SchemaParts } from '../../engine.ts'
import { firstTables } from './0001-first-tables.ts'
import { agentDatabases } from './0002-agent-databases.ts'

/** The names define the order, and must not change once released. */
export function platformMigrations(parts: SchemaParts): Record<string, Migration> {
  return { '0001-first-tables': firstTables(parts), '0002-agent-databases': agentDatabases }
}
