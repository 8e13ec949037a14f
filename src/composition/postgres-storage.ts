import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createWakeUps } from '#platform/jobs/postgres/wake-ups.ts'
import type { Log } from '#platform/log.ts'
import { createEngine } from '#storage/postgres/engine.ts'
import { extensionSchema } from '#storage/postgres/vector-extension.ts'
import type { Storage, StorageConfiguration } from './storage.ts'

type PostgresConfiguration = StorageConfiguration & {
  database: NonNullable<StorageConfiguration['database']>
}

/** A database that any number of processes share; the data directory holds no more than a generated key. */
export async function openPostgresStorage(
  { dataDirectory, database, fileBucket }: PostgresConfiguration,
  log: Log,
): Promise<Storage> {
  const folder = resolve(dataDirectory)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const onError = (error: Error) => log.warn({ err: error }, 'a connection to the database broke')
  const engine = createEngine({ ...database, fileBucket, onError })
  return {
    engine,
    encryptionKeyFile: join(folder, 'encryption.key'),
    async prepare(platform) {
      const hasExtension = (await extensionSchema(platform)) !== undefined
      if (hasExtension) log.info('pgvector compares the vectors of embedding providers')
      else
        log.info(
          'the database has no pgvector: a search reads all vectors of embedding providers, which is exact but slow where there are many',
        )
    },
    createWakeUps: (_platform, clock) => createWakeUps({ database: engine.direct, clock, log }),
    // Who held a lease may be alive: it ends by itself.
    onOpen: () => [],
  }
}
