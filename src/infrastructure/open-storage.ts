import type { ChangeFeed } from '#platform/change-feed.ts'
import type { Log } from '#platform/logging/log.ts'
import type { Storage, StorageConfiguration } from './storage.ts'

/** Opens PostgreSQL if its URL is configured, else SQLite files in the data directory; loads only that. */
export async function openStorage(
  configuration: StorageConfiguration,
  log: Log,
  changes?: ChangeFeed,
): Promise<Storage> {
  const { database } = configuration
  if (database === undefined)
    return (await import('./sqlite-storage.ts')).openSqliteStorage(configuration, log, changes)
  return (await import('./postgres-storage.ts')).openPostgresStorage(
    { ...configuration, database },
    log,
    changes,
  )
}
