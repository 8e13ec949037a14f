import type { Kysely } from 'kysely'
import { sql } from 'kysely'
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
  if (await isNewest(db, migrations)) return
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } })
  const { error } = await migrator.migrateToLatest()
  if (error !== undefined) throw error
}

/** One look instead of the dozen of a migrator: databases are opened often and migrated rarely. */
async function isNewest<Tables>(db: Kysely<Tables>, migrations: Record<string, Migration>): Promise<boolean> {
  try {
    const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(db)
    const done = new Set(rows.map(({ name }) => name))
    // What this version doesn't know, the migrator refuses with a reason.
    return (
      done.size === Object.keys(migrations).length && Object.keys(migrations).every(name => done.has(name))
    )
  } catch {
    // There is no such table before the first migration; whatever else is wrong, the migrator meets it again.
    return false
  }
}
