import type { Kysely } from 'kysely'
import type { Disk } from '#platform/disk.ts'
import type { FileStore } from './files/file-store.ts'
import type { SchemaParts } from './schema-parts.ts'
import type { AgentTables, PlatformTables } from './tables.ts'

/** The parts that a database engine provides to storage; everything else is written once, for all engines. */
export interface StorageEngine {
  schema: SchemaParts
  /** True if no other process writes these databases, so that this process's memory of them stays valid. */
  readonly isExclusive: boolean
  /** The disk with the databases and files. */
  readonly disk: Disk
  /** Returns true if there is a platform database, that is, if a service has run here. */
  isUsed(): Promise<boolean>
  /** Opens the platform database without migrating it; the caller destroys it. */
  openPlatform(): Promise<Kysely<PlatformTables>>
  /**
   * Opens an agent's database, creating it if there is none, without migrating it; the caller destroys it.
   * @throws AppError `DATA_DAMAGED` if there is none although it must exist.
   */
  openAgent(agentId: string, options?: { mustExist: boolean }): Promise<OpenAgent>
  /** Deletes an agent's database, which must be closed, and then its files; succeeds where there are none. */
  removeAgent(agentId: string): Promise<void>
  /** Releases the data for the next process; call it after all databases are closed. */
  close(): Promise<void>
}

export interface OpenAgent {
  db: Kysely<AgentTables>
  /** The path or address that a worker opens; on some engines it contains a password. */
  path: string
  /** The agent's uploads. */
  files: FileStore
  /** Gives the space of deleted rows back to the disk, where the engine does not do so by itself. */
  shrink(): Promise<void>
}
