/** Kysely on `pg`, for the users of one schema. */
import type {
  DatabaseConnection,
  DatabaseIntrospector,
  Dialect,
  PostgresPool,
  QueryExecutorProvider,
  TableMetadata,
  TransactionSettings,
} from 'kysely'
import { PostgresAdapter, PostgresDriver, PostgresQueryCompiler, sql } from 'kysely'

/** Adapters are stateless: sharing one lets all databases use the queries prepared for the engine. */
const adapter = new PostgresAdapter()

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

/** Only the tables of this schema: Kysely's own introspection would read those of all agents each time one is opened. */
function schemaIntrospector(db: QueryExecutorProvider): DatabaseIntrospector {
  async function getTables(): Promise<TableMetadata[]> {
    const { rows } = await sql<{ name: string; schema: string }>`
      select relname as name, current_schema() as schema from pg_class
      where relkind = 'r' and relnamespace = (select oid from pg_namespace where nspname = current_schema())
    `.execute(db)
    return rows.map(row => ({ ...row, isView: false, isForeign: false, columns: [] }))
  }
  return {
    getSchemas: async () => [],
    getTables,
  }
}
