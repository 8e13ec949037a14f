import type { Migration } from 'kysely/migration'
import { firstTables } from './0001-first-tables.ts'

/** Names give the order, and stay as they are once released. */
export const platformMigrations: Record<string, Migration> = { '0001-first-tables': firstTables }
