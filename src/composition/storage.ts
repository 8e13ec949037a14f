import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Kysely } from 'kysely'
import type { Clock } from '#platform/clock.ts'
import { createWakeUps as createSharedWakeUps } from '#platform/jobs/postgres/wake-ups.ts'
import { createWakeUps as createEmbeddedWakeUps } from '#platform/jobs/sqlite/wake-ups.ts'
import type { WakeUps } from '#platform/jobs/wake-ups.ts'
import type { Log } from '#platform/log.ts'
import type { OnOpen } from '#storage/agent-databases.ts'
import type { StorageEngine } from '#storage/engine.ts'
import { createEngine as createPostgresEngine } from '#storage/postgres/engine.ts'
import { extensionSchema } from '#storage/postgres/vector-extension.ts'
import { openDataDirectory } from '#storage/sqlite/data-directory.ts'
import { createEngine as createSqliteEngine } from '#storage/sqlite/engine.ts'
import { createLeaseVoiding } from '#storage/sqlite/void-leases.ts'
import type { PlatformTables } from '#storage/tables.ts'
import type { Configuration } from '../config.ts'

/** What the choice of the database engine decides; everything above is the same for all. */
export interface Storage {
  engine: StorageEngine
  /** File of the encryption key that is generated where none is configured. */
  encryptionKeyFile: string
  /** To be called once, when the platform database is open. */
  prepare(platform: Kysely<PlatformTables>): Promise<void>
  createWakeUps(platform: Kysely<PlatformTables>, clock: Clock): Promise<WakeUps>
  /** What is to be done with an agent's database before this process uses it the first time. */
  onOpen(needs: { wakeUps: WakeUps; instanceId: string }): OnOpen[]
}

type StorageConfiguration = Pick<
  Configuration,
  'dataDirectory' | 'database' | 'fileBucket' | 'sqliteSynchronous'
>

/** PostgreSQL where its address is configured, else SQLite files in the data directory. */
export function openStorage(configuration: StorageConfiguration, log: Log): Promise<Storage> {
  return configuration.database === undefined
    ? openSqlite(configuration)
    : openPostgres(configuration, configuration.database, log)
}

async function openSqlite({
  dataDirectory,
  fileBucket,
  sqliteSynchronous,
}: StorageConfiguration): Promise<Storage> {
  const directory = await openDataDirectory(dataDirectory)
  return {
    engine: createSqliteEngine({ directory, synchronous: sqliteSynchronous, fileBucket }),
    encryptionKeyFile: directory.encryptionKey,
    prepare: async () => {},
    createWakeUps: async (platform, clock) =>
      createEmbeddedWakeUps({ db: platform.$pickTables<'wake_ups'>(), clock }),
    onOpen: needs => [createLeaseVoiding(needs)],
  }
}

async function openPostgres(
  { dataDirectory, fileBucket }: StorageConfiguration,
  database: NonNullable<Configuration['database']>,
  log: Log,
): Promise<Storage> {
  const folder = resolve(dataDirectory)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const onError = (error: Error) => log.warn({ err: error }, 'a connection to the database broke')
  const engine = createPostgresEngine({ ...database, fileBucket, onError })
  return {
    engine,
    encryptionKeyFile: join(folder, 'encryption.key'),
    async prepare(platform) {
      const hasExtension = (await extensionSchema(platform)) !== undefined
      const by = hasExtension ? 'pgvector' : 'exact scan'
      log.info(
        { by },
        'the vectors of providers are compared by pgvector, or by reading all of them where the database lacks it',
      )
    },
    createWakeUps: (_platform, clock) => createSharedWakeUps({ database: engine.direct, clock, log }),
    // Who held a lease may be alive: it ends by itself.
    onOpen: () => [],
  }
}
