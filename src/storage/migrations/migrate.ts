import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { Migrator } from 'kysely/migration'

/**
 * Brings a database to the newest schema. All pending migrations run in one transaction, so that a process that
 * dies among them leaves the database as it was.
 */
export async function migrate<Tables>(
  db: Kysely<Tables>,
  migrations: Record<string, Migration>,
): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } })
  const { error } = await migrator.migrateToLatest()
  if (error !== undefined) throw error
}
