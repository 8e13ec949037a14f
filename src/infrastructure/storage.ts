import type { Kysely } from 'kysely'
import type { Configuration } from '#configuration/configuration.ts'
import type { Clock } from '#platform/clock.ts'
import type { SecretBox } from '#platform/encryption/secret-box.ts'
import type { ByLane } from '#platform/jobs/lanes.ts'
import type { WakeUps } from '#platform/jobs/wake-ups.ts'
import type { SqlRunner } from '#sandbox/sql/sql-runner.ts'
import type { OnOpen } from '#storage/agent-databases.ts'
import type { StorageEngine } from '#storage/engine.ts'
import type { PlatformTables } from '#storage/tables.ts'

/** The parts that depend on the database engine; everything above is the same for both. */
export interface Storage {
  engine: StorageEngine
  /** File of the encryption key that is generated if none is configured. */
  encryptionKeyFile: string
  /** Call it once, when the platform database is open. */
  prepare(platform: Kysely<PlatformTables>): Promise<void>
  createWakeUps(platform: Kysely<PlatformTables>, clock: Clock): Promise<ByLane<WakeUps>>
  /** Runs the SQL of agents. */
  createSqlRunner(secretBox: SecretBox): SqlRunner
  /** Called with an agent's database before this process first uses it. */
  onOpen(instanceId: string): OnOpen[]
}

export type StorageConfiguration = Pick<
  Configuration,
  'dataDirectory' | 'database' | 'fileBucket' | 'acceptsLoss' | 'sqliteSynchronous'
>
