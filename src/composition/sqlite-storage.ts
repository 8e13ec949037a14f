import { createWakeUps } from '#platform/jobs/sqlite/wake-ups.ts'
import { createSqlRunner } from '#sandbox/sql/sqlite/runner.ts'
import { openDataDirectory } from '#storage/sqlite/data-directory.ts'
import { createEngine } from '#storage/sqlite/engine.ts'
import { createLeaseVoiding } from '#storage/sqlite/void-leases.ts'
import type { Storage, StorageConfiguration } from './storage.ts'

/** The files of a data directory that only this process uses. */
export async function openSqliteStorage({
  dataDirectory,
  fileBucket,
  sqliteSynchronous,
}: StorageConfiguration): Promise<Storage> {
  const directory = await openDataDirectory(dataDirectory)
  const sqlRunner = createSqlRunner({ synchronous: sqliteSynchronous })
  return {
    engine: createEngine({
      directory,
      synchronous: sqliteSynchronous,
      fileBucket,
      onBlocked: path => sqlRunner.giveWay(path),
    }),
    encryptionKeyFile: directory.encryptionKey,
    prepare: async () => {},
    createWakeUps: async (platform, clock) =>
      createWakeUps({ db: platform.$pickTables<'wake_ups'>(), clock }),
    createSqlRunner: () => sqlRunner,
    onOpen: instanceId => [createLeaseVoiding(instanceId)],
  }
}
