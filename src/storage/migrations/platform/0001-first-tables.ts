import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { SchemaParts } from '../../engine.ts'

export function firstTables(parts: SchemaParts): Migration {
  return {
    async up(db) {
      await parts.createFoldCase(db)
      await createAgents(db, parts)
      await db.schema
        .createTable('wake_ups')
        .addColumn('agent_id', parts.textType, column => column.primaryKey())
        .addColumn('due_at', parts.textType, column => column.notNull())
        .execute()
      await db.schema.createIndex('wake_ups_due_at').on('wake_ups').column('due_at').execute()
      await db.schema
        .createTable('platform_facts')
        .addColumn('name', parts.textType, column => column.primaryKey())
        .addColumn('value', parts.textType, column => column.notNull())
        .execute()
      await parts
        .shortLived(db.schema.createTable('rate_limits'))
        .addColumn('key', parts.textType, column => column.primaryKey())
        .addColumn('points', 'integer', column => column.notNull())
        .addColumn('expires_at', parts.textType, column => column.notNull())
        .execute()
    },
  }
}

async function createAgents(db: Kysely<unknown>, parts: SchemaParts): Promise<void> {
  await db.schema
    .createTable('agents')
    .addColumn('id', parts.textType, column => column.primaryKey())
    .addColumn('name', parts.textType, column => column.notNull())
    .addColumn('name_key', parts.textType, column => column.notNull().unique())
    .addColumn('description', parts.textType, column => column.notNull())
    .addColumn('status', parts.textType, column => column.notNull())
    .addColumn('settings', parts.textType, column => column.notNull())
    .addColumn('created_at', parts.textType, column => column.notNull())
    .addColumn('updated_at', parts.textType, column => column.notNull())
    .execute()
  await db.schema
    .createTable('agent_admins')
    .addColumn('id', parts.textType, column => column.primaryKey())
    .addColumn('agent_id', parts.textType, column =>
      column.notNull().references('agents.id').onDelete('cascade'),
    )
    .addColumn('email', parts.textType, column => column.notNull())
    .addColumn('role', parts.textType, column => column.notNull())
    .addColumn('created_at', parts.textType, column => column.notNull())
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
    .addColumn('agent_id', parts.textType, column =>
      column.notNull().references('agents.id').onDelete('cascade'),
    )
    .addColumn('name', parts.textType, column => column.notNull())
    .addColumn('sealed', parts.textType, column => column.notNull())
    .addPrimaryKeyConstraint('agent_credentials_key', ['agent_id', 'name'])
    .execute()
  await db.schema
    .createTable('agent_secrets')
    .addColumn('agent_id', parts.textType, column =>
      column.notNull().references('agents.id').onDelete('cascade'),
    )
    .addColumn('set_id', parts.textType, column => column.notNull())
    .addColumn('name', parts.textType, column => column.notNull())
    .addColumn('sealed', parts.textType, column => column.notNull())
    .addPrimaryKeyConstraint('agent_secrets_key', ['agent_id', 'set_id', 'name'])
    .execute()
  await db.schema
    .createTable('agent_removals')
    .addColumn('agent_id', parts.textType, column => column.primaryKey())
    .execute()
}
