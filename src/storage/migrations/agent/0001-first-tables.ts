import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { SchemaParts } from '../../engine.ts'

export function firstTables(parts: SchemaParts): Migration {
  return {
    async up(db) {
      await parts.createFoldCase(db)
      await createConversations(db, parts)
      await createSources(db, parts)
      await createTools(db, parts)
      await createMcp(db, parts)
      await createOutbox(db, parts)
      await db.schema
        .createTable('agent_facts')
        .addColumn('name', parts.textType, column => column.primaryKey())
        .addColumn('value', parts.textType, column => column.notNull())
        .execute()
    },
  }
}

async function createConversations(db: Kysely<unknown>, parts: SchemaParts): Promise<void> {
  await db.schema
    .createTable('conversations')
    .addColumn('id', parts.textType, column => column.primaryKey())
    .addColumn('title', parts.textType, column => column.notNull())
    .addColumn('message_count', 'integer', column => column.notNull())
    .addColumn('last_message_at', parts.textType)
    .addColumn('created_at', parts.textType, column => column.notNull())
    .addColumn('lock_holder', parts.textType)
    .addColumn('lock_token', 'integer', column => column.notNull())
    .addColumn('lock_expires_at', parts.textType)
    .execute()
  await db.schema
    .createIndex('conversations_last_message_at')
    .on('conversations')
    .column('last_message_at')
    .execute()

  await db.schema
    .createTable('messages')
    .addColumn('sequence', parts.sequenceType, parts.sequence)
    .addColumn('id', parts.textType, column => column.notNull().unique())
    .addColumn('conversation_id', parts.textType, column =>
      column.notNull().references('conversations.id').onDelete('cascade'),
    )
    .addColumn('role', parts.textType, column => column.notNull())
    .addColumn('content', parts.textType, column => column.notNull())
    .addColumn('tool_calls', parts.textType)
    .addColumn('tool_results', parts.textType)
    .addColumn('metadata', parts.textType)
    .addColumn('created_at', parts.textType, column => column.notNull())
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
    .addColumn('id', parts.textType, column => column.primaryKey())
    .addColumn('type', parts.textType, column => column.notNull())
    .addColumn('name', parts.textType, column => column.notNull())
    .addColumn('status', parts.textType, column => column.notNull())
    .addColumn('error', parts.textType)
    .addColumn('progress', 'double precision', column => column.notNull())
    .addColumn('chunks', 'integer')
    .addColumn('file_path', parts.textType)
    .addColumn('config', parts.textType, column => column.notNull())
    .addColumn('secret_set', parts.textType)
    .addColumn('last_copy', parts.textType)
    .addColumn('created_at', parts.textType, column => column.notNull())
    .addColumn('updated_at', parts.textType, column => column.notNull())
    .addColumn('removed_at', parts.textType)
    .addColumn('new_embedding', parts.textType)
    .execute()
  await db.schema.createIndex('sources_created_at').on('sources').column('created_at').execute()

  await db.schema
    .createTable('file_parts')
    .addColumn('file_id', parts.textType, column => column.notNull())
    .addColumn('number', 'integer', column => column.notNull())
    .addColumn('content', parts.bytesType, column => column.notNull())
    .addPrimaryKeyConstraint('file_parts_primary_key', ['file_id', 'number'])
    .execute()

  await createChunks(db, parts)
  await createCrawls(db, parts)
}

async function createChunks(db: Kysely<unknown>, parts: SchemaParts): Promise<void> {
  await db.schema
    .createTable('chunks')
    .addColumn('sequence', parts.sequenceType, parts.sequence)
    .addColumn('id', parts.textType, column => column.notNull().unique())
    .addColumn('source_id', parts.textType, column =>
      column.notNull().references('sources.id').onDelete('cascade'),
    )
    .addColumn('document', parts.textType, column => column.notNull().defaultTo(''))
    .addColumn('content', parts.textType, column => column.notNull())
    .addColumn('page', 'integer')
    .addColumn('section', parts.textType)
    .addColumn('start_offset', 'integer', column => column.notNull())
    .addColumn('end_offset', 'integer', column => column.notNull())
    .execute()
  await db.schema
    .createIndex('chunks_source_document_sequence')
    .on('chunks')
    .columns(['source_id', 'document', 'sequence'])
    .execute()
  await parts.createFullText(db)
  await db.schema
    .createTable('chunk_generations')
    .addColumn('source_id', parts.textType, column =>
      column.notNull().references('sources.id').onDelete('cascade'),
    )
    .addColumn('document', parts.textType, column => column.notNull().defaultTo(''))
    .addColumn('first_sequence', parts.sequenceReference, column => column.notNull())
    .addColumn('last_sequence', parts.sequenceReference, column => column.notNull())
    .addColumn('settled', 'integer', column => column.notNull())
    .addColumn('draft', parts.textType)
    .addColumn('attempt', parts.textType)
    .addColumn('indexed_sequence', parts.sequenceReference, column => column.notNull())
    .addColumn('embedding', parts.textType, column => column.notNull().defaultTo(''))
    .addPrimaryKeyConstraint('chunk_generations_key', ['source_id', 'document'])
    .execute()
}

async function createCrawls(db: Kysely<unknown>, parts: SchemaParts): Promise<void> {
  await db.schema
    .createTable('crawl_pages')
    .addColumn('source_id', parts.textType, column =>
      column.notNull().references('sources.id').onDelete('cascade'),
    )
    .addColumn('document', parts.textType, column => column.notNull())
    .addColumn('url', parts.textType, column => column.notNull())
    .addColumn('requested_url', parts.textType, column => column.notNull())
    .addColumn('fetched_url', parts.textType, column => column.notNull())
    .addColumn('etag', parts.textType)
    .addColumn('last_modified', parts.textType)
    .addColumn('content_hash', parts.textType, column => column.notNull())
    .addColumn('embedding', parts.textType, column => column.notNull())
    .addColumn('links', parts.textType, column => column.notNull())
    .addColumn('chunks', 'integer', column => column.notNull())
    .addPrimaryKeyConstraint('crawl_pages_key', ['source_id', 'document'])
    .execute()
  await db.schema
    .createIndex('crawl_pages_fetched_url')
    .on('crawl_pages')
    .columns(['source_id', 'fetched_url'])
    .execute()
  await db.schema
    .createTable('crawl_queue')
    .addColumn('source_id', parts.textType, column =>
      column.notNull().references('sources.id').onDelete('cascade'),
    )
    .addColumn('position', 'integer', column => column.notNull())
    .addColumn('url', parts.textType, column => column.notNull())
    .addColumn('depth', 'integer', column => column.notNull())
    .addColumn('state', parts.textType, column => column.notNull())
    .addColumn('reason', parts.textType)
    .addColumn('document', parts.textType)
    .addPrimaryKeyConstraint('crawl_queue_key', ['source_id', 'position'])
    .addUniqueConstraint('crawl_queue_url', ['source_id', 'url'])
    .execute()
  await db.schema
    .createIndex('crawl_queue_state')
    .on('crawl_queue')
    .columns(['source_id', 'state', 'position'])
    .execute()
}

async function createTools(db: Kysely<unknown>, parts: SchemaParts): Promise<void> {
  await db.schema
    .createTable('tools')
    .addColumn('id', parts.textType, column => column.primaryKey())
    .addColumn('name', parts.textType, column => column.notNull())
    .addColumn('description', parts.textType, column => column.notNull())
    .addColumn('type', parts.textType, column => column.notNull())
    .addColumn('configuration', parts.textType, column => column.notNull())
    .addColumn('is_enabled', 'integer', column => column.notNull())
    .addColumn('requires_approval', 'integer', column => column.notNull())
    .addColumn('cluster', parts.textType, column => column.notNull())
    .addColumn('secret_set', parts.textType)
    .addColumn('created_at', parts.textType, column => column.notNull())
    .addColumn('updated_at', parts.textType, column => column.notNull())
    .addUniqueConstraint('tools_cluster_name', ['cluster', 'name'])
    .execute()
  await db.schema
    .createTable('tool_credentials')
    .addColumn('cluster', parts.textType, column => column.notNull())
    .addColumn('name', parts.textType, column => column.notNull())
    .addColumn('scheme', parts.textType, column => column.notNull())
    .addColumn('secret_set', parts.textType)
    .addColumn('created_at', parts.textType, column => column.notNull())
    .addColumn('updated_at', parts.textType, column => column.notNull())
    .addPrimaryKeyConstraint('tool_credentials_key', ['cluster', 'name'])
    .execute()
  await db.schema
    .createTable('tool_approvals')
    .addColumn('tool_call_id', parts.textType, column => column.primaryKey())
    .addColumn('message_id', parts.textType, column =>
      column.notNull().references('messages.id').onDelete('cascade'),
    )
    .addColumn('conversation_id', parts.textType, column => column.notNull())
    .addColumn('name', parts.textType, column => column.notNull())
    .addColumn('arguments', parts.textType, column => column.notNull())
    .addColumn('tool_version', parts.textType, column => column.notNull())
    .addColumn('status', parts.textType, column => column.notNull())
    .addColumn('created_at', parts.textType, column => column.notNull())
    .addColumn('decided_at', parts.textType)
    .execute()
  await db.schema.createIndex('tool_approvals_message').on('tool_approvals').column('message_id').execute()
}

async function createMcp(db: Kysely<unknown>, parts: SchemaParts): Promise<void> {
  await db.schema
    .createTable('mcp_servers')
    .addColumn('id', parts.textType, column => column.primaryKey())
    .addColumn('name', parts.textType, column => column.notNull().unique())
    .addColumn('url', parts.textType, column => column.notNull())
    .addColumn('auth_type', parts.textType, column => column.notNull())
    .addColumn('secret_set', parts.textType)
    .addColumn('status', parts.textType, column => column.notNull())
    .addColumn('error', parts.textType)
    .addColumn('created_at', parts.textType, column => column.notNull())
    .addColumn('updated_at', parts.textType, column => column.notNull())
    .execute()
  await db.schema
    .createTable('mcp_tools')
    .addColumn('server_id', parts.textType, column =>
      column.notNull().references('mcp_servers.id').onDelete('cascade'),
    )
    .addColumn('name', parts.textType, column => column.notNull())
    .addColumn('description', parts.textType, column => column.notNull())
    .addColumn('parameters', parts.textType, column => column.notNull())
    .addColumn('position', 'integer')
    .addColumn('definition_hash', parts.textType, column => column.notNull())
    .addColumn('approved_hash', parts.textType)
    .addPrimaryKeyConstraint('mcp_tools_key', ['server_id', 'name'])
    .execute()
}

async function createOutbox(db: Kysely<unknown>, parts: SchemaParts): Promise<void> {
  await db.schema
    .createTable('outbox')
    .addColumn('id', parts.textType, column => column.primaryKey())
    .addColumn('name', parts.textType, column => column.notNull())
    .addColumn('key', parts.textType)
    .addColumn('payload', parts.textType, column => column.notNull())
    .addColumn('run_at', parts.textType, column => column.notNull())
    .addColumn('attempts', 'integer', column => column.notNull())
    .addColumn('failures', 'integer', column => column.notNull())
    .addColumn('lease_holder', parts.textType)
    .addColumn('lease_expires_at', parts.textType)
    .addColumn('last_error', parts.textType)
    .addColumn('failed_at', parts.textType)
    .addColumn('created_at', parts.textType, column => column.notNull())
    .execute()
  // Failed entries are kept for people to see, but must not make the index grow that each look-up uses.
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
