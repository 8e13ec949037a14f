import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { SchemaParts } from '../../engine.ts'

export function firstTables(parts: SchemaParts): Migration {
  return {
    async up(db) {
      await createConversations(db, parts)
      await createSources(db, parts)
      await createOutbox(db)
      await db.schema
        .createTable('agent_facts')
        .addColumn('name', 'text', column => column.primaryKey())
        .addColumn('value', 'text', column => column.notNull())
        .execute()
    },
  }
}

async function createConversations(db: Kysely<unknown>, parts: SchemaParts): Promise<void> {
  await db.schema
    .createTable('conversations')
    .addColumn('id', 'text', column => column.primaryKey())
    .addColumn('title', 'text', column => column.notNull())
    .addColumn('message_count', 'integer', column => column.notNull())
    .addColumn('last_message_at', 'text')
    .addColumn('created_at', 'text', column => column.notNull())
    .addColumn('lock_holder', 'text')
    .addColumn('lock_token', 'integer', column => column.notNull())
    .addColumn('lock_expires_at', 'text')
    .execute()
  await db.schema
    .createIndex('conversations_last_message_at')
    .on('conversations')
    .column('last_message_at')
    .execute()

  await db.schema
    .createTable('messages')
    .addColumn('sequence', parts.sequenceType, parts.sequence)
    .addColumn('id', 'text', column => column.notNull().unique())
    .addColumn('conversation_id', 'text', column =>
      column.notNull().references('conversations.id').onDelete('cascade'),
    )
    .addColumn('role', 'text', column => column.notNull())
    .addColumn('content', 'text', column => column.notNull())
    .addColumn('tool_calls', 'text')
    .addColumn('tool_results', 'text')
    .addColumn('metadata', 'text')
    .addColumn('created_at', 'text', column => column.notNull())
    .execute()
  await db.schema
    .createIndex('messages_conversation_sequence')
    .on('messages')
    .columns(['conversation_id', 'sequence'])
    .execute()
}

async function createSources(db: Kysely<unknown>, parts: SchemaParts): Promise<void> {
  await db.schema
    .createTable('sources')
    .addColumn('id', 'text', column => column.primaryKey())
    .addColumn('type', 'text', column => column.notNull())
    .addColumn('name', 'text', column => column.notNull())
    .addColumn('status', 'text', column => column.notNull())
    .addColumn('error', 'text')
    .addColumn('progress', 'double precision', column => column.notNull())
    .addColumn('chunks', 'integer')
    .addColumn('file_path', 'text')
    .addColumn('config', 'text', column => column.notNull())
    .addColumn('created_at', 'text', column => column.notNull())
    .addColumn('updated_at', 'text', column => column.notNull())
    .addColumn('removed_at', 'text')
    .execute()
  await db.schema.createIndex('sources_created_at').on('sources').column('created_at').execute()

  await createChunks(db, parts)
}

async function createChunks(db: Kysely<unknown>, parts: SchemaParts): Promise<void> {
  await db.schema
    .createTable('chunks')
    .addColumn('sequence', parts.sequenceType, parts.sequence)
    .addColumn('id', 'text', column => column.notNull().unique())
    .addColumn('source_id', 'text', column => column.notNull().references('sources.id').onDelete('cascade'))
    .addColumn('content', 'text', column => column.notNull())
    .addColumn('page', 'integer')
    .addColumn('section', 'text')
    .addColumn('start_offset', 'integer', column => column.notNull())
    .addColumn('end_offset', 'integer', column => column.notNull())
    .execute()
  await db.schema
    .createIndex('chunks_source_sequence')
    .on('chunks')
    .columns(['source_id', 'sequence'])
    .execute()
  await parts.createFullText(db)
  await db.schema
    .createTable('chunk_generations')
    .addColumn('source_id', 'text', column => column.primaryKey())
    .addColumn('first_sequence', parts.sequenceReference, column => column.notNull())
    .addColumn('last_sequence', parts.sequenceReference, column => column.notNull())
    .addColumn('settled', 'integer', column => column.notNull())
    .addColumn('draft', 'text')
    .addColumn('indexed_sequence', parts.sequenceReference, column => column.notNull())
    .execute()
}

async function createOutbox(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('outbox')
    .addColumn('id', 'text', column => column.primaryKey())
    .addColumn('name', 'text', column => column.notNull())
    .addColumn('key', 'text')
    .addColumn('payload', 'text', column => column.notNull())
    .addColumn('run_at', 'text', column => column.notNull())
    .addColumn('attempts', 'integer', column => column.notNull())
    .addColumn('failures', 'integer', column => column.notNull())
    .addColumn('lease_holder', 'text')
    .addColumn('lease_expires_at', 'text')
    .addColumn('last_error', 'text')
    .addColumn('failed_at', 'text')
    .addColumn('created_at', 'text', column => column.notNull())
    .execute()
  // Failed entries stay for people to see: the index that each look uses does not grow with them.
  await db.schema
    .createIndex('outbox_run_at')
    .on('outbox')
    .column('run_at')
    .where(sql.ref('failed_at'), 'is', null)
    .execute()
  await db.schema
    .createIndex('outbox_key')
    .unique()
    .on('outbox')
    .column('key')
    .where(sql.ref('key'), 'is not', null)
    .where(sql.ref('failed_at'), 'is', null)
    .execute()
}
