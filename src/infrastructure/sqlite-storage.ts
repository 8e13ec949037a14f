import type { ChangeFeed } from '#platform/change-feed.ts'
import { createWakeUps } from '#platform/jobs/sqlite/wake-ups.ts'
import type { Log } from '#platform/logging/log.ts'
import { createWorkerPool } from '#platform/workers/worker-pool.ts'
import { createSqlRunner } from '#sandbox/sql/sqlite/runner.ts'
import { createCheckpoints } from '#storage/sqlite/connections/checkpoints.ts'
import { openDataDirectory } from '#storage/sqlite/connections/data-directory.ts'
import { keepDiskReserve } from '#storage/sqlite/disk-reserve.ts'
import { createEngine } from '#storage/sqlite/engine.ts'
import { checkFiles } from '#storage/sqlite/lost-files.ts'
import { createLeaseVoiding } from '#storage/sqlite/void-leases.ts'
import type { Storage, StorageConfiguration } from './storage.ts'

/** Opens the files of a data directory that only this process uses. */
export async function openSqliteStorage(
  { dataDirectory, fileBucket, acceptsLoss, sqliteSynchronous }: StorageConfiguration,
  log: Log,
  changes?: ChangeFeed,
): Promise<Storage> {
  const directory = await openDataDirectory(dataDirectory)
  const disk = await keepDiskReserve(directory.path, log)
  // A start writes little, and must not fail.
  await disk.makeRoom()
  const sqlRunner = createSqlRunner({ synchronous: sqliteSynchronous })
  // A pool of its own: a write-ahead log must not wait until a large document has been read.
  const checkpointWorkers = createWorkerPool({ maxThreads: 1, log })
  const engine = createEngine({
    directory,
    disk,
    acceptsLoss,
    synchronous: sqliteSynchronous,
    fileBucket,
    changes,
    onBlocked: path => sqlRunner.giveWay(path),
    checkpointerOf: createCheckpoints(checkpointWorkers, log),
  })
  return {
    engine: {
      ...engine,
      close: async () => {
        await checkpointWorkers.close()
        disk.close()
        await engine.close()
      },
    },
    encryptionKeyFile: directory.encryptionKey,
    prepare: platform => checkFiles(platform, directory, log),
    createWakeUps: async (platform, clock) =>
      createWakeUps({ db: platform.$pickTables<'wake_ups'>(), clock }),
    createSqlRunner: () => sqlRunner,
    onOpen: instanceId => [createLeaseVoiding(instanceId)],
  }
}
