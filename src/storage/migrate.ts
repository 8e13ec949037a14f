import { type Kysely, sql } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'

/**
 * Migrates a database to the newest schema. All pending migrations run in one transaction, so a process that dies
 * during one leaves the database as it was.
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

/** Returns the names of the migrations that the database has had. @throws if there was none yet. */
export async function appliedMigrations<Tables>(db: Kysely<Tables>): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(db)
  return new Set(rows.map(({ name }) => name))
}

/** Takes one query instead of the migrator's dozen: databases are opened often and migrated rarely. */
async function isNewest<Tables>(db: Kysely<Tables>, migrations: Record<string, Migration>): Promise<boolean> {
  try {
    const done = await appliedMigrations(db)
    // The migrator refuses migrations that this version does not know, and says why.
    return (
      done.size === Object.keys(migrations).length && Object.keys(migrations).every(name => done.has(name))
    )
  } catch {
    // The table does not exist before the first migration; any other problem will recur in the migrator.
    return false
  }
}
