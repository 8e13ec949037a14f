import type {
  ColumnDefinitionBuilder,
  CreateTableBuilder,
  Expression,
  Kysely,
  QueryExecutorProvider,
} from 'kysely'
import type { FileStore } from './files/file-store.ts'
import type { AgentTables, PlatformTables } from './tables.ts'

/** What a database engine does for storage; everything else is written once, for all engines. */
export interface StorageEngine {
  schema: SchemaParts
  /** Whether no other process writes these databases, so that what this one remembers of them stays true. */
  readonly isExclusive: boolean
  /** Whether there is a platform database: a service has run here. */
  isUsed(): Promise<boolean>
  /** Opens the platform database as it is found, without migrating it; the caller destroys it. */
  openPlatform(): Promise<Kysely<PlatformTables>>
  /** Opens an agent's database, made where there is none, without migrating it; the caller destroys it. */
  openAgent(agentId: string): Promise<OpenAgent>
  /** Deletes an agent's database, which must be closed, and then its files; succeeds where there are none. */
  removeAgent(agentId: string): Promise<void>
  /** Lets the next process in; after all databases are closed. */
  close(): Promise<void>
}

export interface OpenAgent {
  db: Kysely<AgentTables>
  /** What a worker needs to open the same database; on some engines it holds a password. */
  path: string
  /** The agent's uploads. */
  files: FileStore
}

/** The parts of the schema that engines word differently; migrations take them as an argument. */
export interface SchemaParts {
  /** Type of text columns, ordered and compared by its characters' codes. */
  textType: 'text' | Expression<string>
  /** Type of columns that hold bytes. */
  bytesType: 'blob' | 'bytea'
  /** Type of a column that numbers its rows by itself, growing, never using a number twice. */
  sequenceType: 'integer' | 'bigserial'
  /** Type of a column that holds such a number. */
  sequenceReference: 'integer' | 'bigint'
  sequence(column: ColumnDefinitionBuilder): ColumnDefinitionBuilder
  /** A table whose rows need not outlive a crash. */
  shortLived<Table extends string>(table: CreateTableBuilder<Table>): CreateTableBuilder<Table>
  /** Makes the function `fold_case(text)`, by which texts are compared without regard to letter case. */
  createFoldCase(db: QueryExecutorProvider): Promise<void>
  /** Makes what the words of chunks are found by. */
  createFullText(db: QueryExecutorProvider): Promise<void>
  /** Puts that in the form in which it is kept since the second migration. */
  renewFullText(db: QueryExecutorProvider): Promise<void>
  /** Makes what long lists of terms are read from since the third migration. */
  packFullText(db: QueryExecutorProvider): Promise<void>
}
