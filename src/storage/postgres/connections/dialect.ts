/** Kysely on `pg`, for the users of one schema. */
import {
  type DatabaseConnection,
  type DatabaseIntrospector,
  type Dialect,
  PostgresAdapter,
  PostgresDriver,
  type PostgresPool,
  PostgresQueryCompiler,
  type QueryExecutorProvider,
  sql,
  type TableMetadata,
  type TransactionSettings,
} from 'kysely'
import { DEFAULT_MIGRATION_LOCK_TABLE, DEFAULT_MIGRATION_TABLE } from 'kysely/migration'

/**
 * Locks one schema for a migration: with Kysely's own lock, one for the whole database, all agents opened
 * during a large migration would wait, each on a connection that others then lack.
 */
class SchemaAdapter extends PostgresAdapter {
  override async acquireMigrationLock(db: QueryExecutorProvider): Promise<void> {
    await sql`select pg_advisory_lock(${migrationLock})`.execute(db)
  }

  override async releaseMigrationLock(db: QueryExecutorProvider): Promise<void> {
    await sql`select pg_advisory_unlock(${migrationLock})`.execute(db)
  }
}

const migrationLock = sql`hashtextextended('migrations of ' || current_schema(), 0)`

/** Adapters are stateless: sharing one lets all databases use the queries prepared for the engine. */
const adapter = new SchemaAdapter()

export function createPostgresDialect(pool: PostgresPool): Dialect {
  return {
    createDriver: () => new ConsistentDriver({ pool }),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createAdapter: () => adapter,
    createIntrospector: db => schemaIntrospector(db),
  }
}

/** A read-only transaction sees one snapshot of the database; it needs no stricter isolation, and so cannot fail. */
class ConsistentDriver extends PostgresDriver {
  override beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    const isReader = settings.accessMode === 'read only'
    const isolation = isReader ? { isolationLevel: 'repeatable read' as const } : {}
    return super.beginTransaction(connection, { ...settings, ...isolation })
  }
}

/**
 * Lists only the tables that the migrator needs: Kysely's own introspection would read the tables of all
 * agents each time one is opened.
 */
function schemaIntrospector(db: QueryExecutorProvider): DatabaseIntrospector {
  async function getTables(): Promise<TableMetadata[]> {
    const { rows } = await sql<{ name: string; schema: string }>`
      select relname as name, current_schema() as schema from pg_class
      where relname in (${DEFAULT_MIGRATION_TABLE}, ${DEFAULT_MIGRATION_LOCK_TABLE})
        and relnamespace = current_schema()::regnamespace
    `.execute(db)
    return rows.map(row => ({ ...row, isView: false, isForeign: false, columns: [] }))
  }
  return {
    getSchemas: async () => [],
    getTables,
  }
}
