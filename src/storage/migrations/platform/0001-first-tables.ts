import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

export const firstTables: Migration = {
  async up(db) {
    await createAgents(db)
    await db.schema
      .createTable('wake_ups')
      .addColumn('agent_id', 'text', column => column.primaryKey())
      .addColumn('due_at', 'text', column => column.notNull())
      .execute()
    await db.schema.createIndex('wake_ups_due_at').on('wake_ups').column('due_at').execute()
    await db.schema
      .createTable('platform_facts')
      .addColumn('name', 'text', column => column.primaryKey())
      .addColumn('value', 'text', column => column.notNull())
      .execute()
  },
}

async function createAgents(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('agents')
    .addColumn('id', 'text', column => column.primaryKey())
    .addColumn('name', 'text', column => column.notNull())
    .addColumn('name_key', 'text', column => column.notNull().unique())
    .addColumn('description', 'text', column => column.notNull())
    .addColumn('status', 'text', column => column.notNull())
    .addColumn('settings', 'text', column => column.notNull())
    .addColumn('created_at', 'text', column => column.notNull())
    .addColumn('updated_at', 'text', column => column.notNull())
    .execute()
  await db.schema
    .createTable('agent_admins')
    .addColumn('id', 'text', column => column.primaryKey())
    .addColumn('agent_id', 'text', column => column.notNull().references('agents.id').onDelete('cascade'))
    .addColumn('email', 'text', column => column.notNull())
    .addColumn('role', 'text', column => column.notNull())
    .addColumn('created_at', 'text', column => column.notNull())
    .execute()
  await db.schema
    .createIndex('agent_admins_agent_email')
    .unique()
    .on('agent_admins')
    .columns(['agent_id', 'email'])
    .execute()
  await db.schema.createIndex('agent_admins_email').on('agent_admins').column('email').execute()
  await db.schema
    .createTable('agent_credentials')
    .addColumn('agent_id', 'text', column => column.notNull().references('agents.id').onDelete('cascade'))
    .addColumn('name', 'text', column => column.notNull())
    .addColumn('sealed', 'text', column => column.notNull())
    .addPrimaryKeyConstraint('agent_credentials_key', ['agent_id', 'name'])
    .execute()
  await db.schema
    .createTable('agent_removals')
    .addColumn('agent_id', 'text', column => column.primaryKey())
    .execute()
}
