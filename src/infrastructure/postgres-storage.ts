import { join, resolve } from 'node:path'
import type { ChangeFeed } from '#platform/change-feed.ts'
import { createWakeUps } from '#platform/jobs/postgres/wake-ups.ts'
import type { Log } from '#platform/logging/log.ts'
import { createSqlRunner } from '#sandbox/sql/postgres/runner.ts'
import { makeDataFolder } from '#storage/data-folder.ts'
import { connectToShare } from '#storage/postgres/connections/data-lock.ts'
import { shortageOfLocks } from '#storage/postgres/connections/lock-space.ts'
import { createEngine } from '#storage/postgres/engine.ts'
import { extensionSchema } from '#storage/postgres/vectors/vector-extension.ts'
import { requireCompleteTransfer } from '#storage/transfer/marker.ts'
import type { Storage, StorageConfiguration } from './storage.ts'

type PostgresConfiguration = StorageConfiguration & {
  database: NonNullable<StorageConfiguration['database']>
}

/** Opens a database that any number of processes share; the data directory holds at most a generated key. */
export async function openPostgresStorage(
  { dataDirectory, database, fileBucket, acceptsLoss }: PostgresConfiguration,
  log: Log,
  changes?: ChangeFeed,
): Promise<Storage> {
  const folder = resolve(dataDirectory)
  await makeDataFolder(folder)
  const onError = (error: Error) => log.warn({ err: error }, 'a connection to the database broke')
  const engine = createEngine({ ...database, fileBucket, acceptsLoss, changes, onError })
  let share: AsyncDisposable | undefined
  let carried: { close(): Promise<void> } | undefined
  const endShare = async () => {
    await share?.[Symbol.asyncDispose]()
    share = undefined
  }
  return {
    engine: {
      ...engine,
      async close() {
        await endShare()
        await carried?.close()
        await engine.close()
      },
    },
    encryptionKeyFile: join(folder, 'encryption.key'),
    async prepare(platform) {
      share = await connectToShare(database.url)
      // A transfer might have begun and failed before the data was shared.
      await requireCompleteTransfer(platform)
      const shortage = await shortageOfLocks(platform)
      if (shortage !== undefined) log.warn(shortage)
      const hasExtension = (await extensionSchema(platform)) !== undefined
      if (hasExtension) log.info('pgvector compares the vectors of embedding providers')
      else
        log.info(
          'the database has no pgvector: a search reads all vectors of embedding providers, which is exact but slow where there are many',
        )
    },
    async createWakeUps(_platform, clock) {
      const wakeUps = await createWakeUps({ database: engine.direct, clock, log })
      if (changes !== undefined) carried = await carryChanges(changes, engine.direct, log)
      // From here on the listening connection holds the share.
      await endShare()
      return wakeUps
    },
    createSqlRunner: secretBox =>
      createSqlRunner({ passwordOf: role => secretBox.derive(['sql role', role]), log }),
    // The holder of a lease might be alive; leases expire by themselves.
    onOpen: () => [],
  }
}

const changesChannel = 'agentstead_changes'

/** Sends changes to all processes on the database, by its notifications, until it is closed. */
async function carryChanges(
  changes: ChangeFeed,
  { executeSql, listen }: ReturnType<typeof createEngine>['direct'],
  log: Log,
): Promise<{ close(): Promise<void> }> {
  changes.carry(message => {
    executeSql('select pg_notify($1, $2)', [changesChannel, JSON.stringify(message)]).catch(error =>
      log.warn({ err: error }, 'changes could not be announced to other processes'),
    )
  })
  return await listen(
    changesChannel,
    payload => changes.receive(JSON.parse(payload)),
    () => changes.interrupted(),
  )
}
