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

/** The adapters have no state: one for all databases lets them share what is prepared for the engine. */
const adapter = new PostgresAdapter()

export function createPostgresDialect(pool: PostgresPool): Dialect {
  return {
    createDriver: () => new ConsistentDriver({ pool }),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createAdapter: () => adapter,
    createIntrospector: db => schemaIntrospector(db),
  }
}

/** A transaction that only reads sees one state of the database; it needs no more, and so can't fail. */
class ConsistentDriver extends PostgresDriver {
  override beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    const isReader = settings.accessMode === 'read only'
    const isolation = isReader ? { isolationLevel: 'repeatable read' as const } : {}
    return super.beginTransaction(connection, { ...settings, ...isolation })
  }
}

/** The tables of this schema alone: the usual introspection reads those of all agents, at each opening of one. */
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
