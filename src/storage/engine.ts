import type {
  ColumnDefinitionBuilder,
  CreateTableBuilder,
  Expression,
  Kysely,
  QueryExecutorProvider,
} from 'kysely'
import type { Disk } from '#platform/disk.ts'
import type { FileStore } from './files/file-store.ts'
import type { AgentTables, PlatformTables } from './tables.ts'

/** What a database engine provides to storage; everything else is written once, for all engines. */
export interface StorageEngine {
  schema: SchemaParts
  /** Whether no other process writes these databases, so that what this one remembers of them stays valid. */
  readonly isExclusive: boolean
  /** Where the databases and files are. */
  readonly disk: Disk
  /** Whether there is a platform database, that is, whether a service has run here. */
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
  /** Releases the data for the next process; to be called after all databases are closed. */
  close(): Promise<void>
}

export interface OpenAgent {
  db: Kysely<AgentTables>
  /** What a worker needs to open the same database; on some engines it contains a password. */
  path: string
  /** The agent's uploads. */
  files: FileStore
}

/** The parts of the schema that differ between engines; migrations take them as an argument. */
export interface SchemaParts {
  /** Type of text columns, sorted and compared by code points. */
  textType: 'text' | Expression<string>
  /** Type of columns that hold bytes. */
  bytesType: 'blob' | 'bytea'
  /** Type of a column that numbers its rows by itself, ascending, never using a number twice. */
  sequenceType: 'integer' | 'bigserial'
  /** Type of a column that holds such a number. */
  sequenceReference: 'integer' | 'bigint'
  sequence(column: ColumnDefinitionBuilder): ColumnDefinitionBuilder
  /** A table whose rows need not outlive a crash. */
  shortLived<Table extends string>(table: CreateTableBuilder<Table>): CreateTableBuilder<Table>
  /** Creates the function `fold_case(text)`, which is used to compare texts case-insensitively. */
  createFoldCase(db: QueryExecutorProvider): Promise<void>
  /** Creates the full-text index. */
  createFullText(db: QueryExecutorProvider): Promise<void>
  /** Converts the index to the form that it has since the second migration. */
  renewFullText(db: QueryExecutorProvider): Promise<void>
  /** Creates the packed lists of terms, which exist since the third migration. */
  packFullText(db: QueryExecutorProvider): Promise<void>
}
