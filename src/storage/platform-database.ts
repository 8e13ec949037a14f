import type { Kysely } from 'kysely'
import type { StorageEngine } from './engine.ts'
import { migrate } from './migrate.ts'
import { migrationsOf, type PlatformTables, platformTables } from './tables.ts'

/** Opens the platform database at its newest schema; the caller destroys it. */
export async function openPlatformDatabase(engine: StorageEngine): Promise<Kysely<PlatformTables>> {
  const db = await engine.openPlatform()
  try {
    await migrate(db, migrationsOf(platformTables, engine.schema))
    return db
  } catch (error) {
    await db.destroy()
    throw error
  }
}
