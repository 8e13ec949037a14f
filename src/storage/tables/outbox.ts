import type { OutboxTables } from '#platform/jobs/tables.ts'
import { defineAgentTables, hidden } from './table-set.ts'

export const outboxTables = defineAgentTables<OutboxTables>({
  rules: {
    outbox: { sql: hidden, copy: { key: ['id'], released: ['lease_holder', 'lease_expires_at'] } },
  },
  async create(db, parts) {
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
      .where(parts.reference('failed_at'), 'is', null)
      .execute()
    await db.schema
      .createIndex('outbox_key')
      .unique()
      .on('outbox')
      .column('key')
      .where('key', 'is not', null)
      .where(parts.reference('failed_at'), 'is', null)
      .execute()
  },
})
