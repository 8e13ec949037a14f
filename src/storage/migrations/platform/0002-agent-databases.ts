import type { Migration } from 'kysely/migration'

/** Notes which agents have a database, so that one that was lost is not taken for one that was never used. */
export const agentDatabases: Migration = {
  async up(db) {
    await db.schema
      .alterTable('agents')
      .addColumn('has_database', 'integer', column => column.notNull().defaultTo(0))
      .execute()
  },
}
