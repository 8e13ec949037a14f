import type { Kysely } from 'kysely'
import type { OutboxTables } from '#platform/jobs/tables.ts'
import type { SchemaParts } from '../schema-parts.ts'
import { defineAgentTables, hidden } from './table-set.ts'

export const outboxTables = defineAgentTables<OutboxTables>({
  rules: {
    outbox: { sql: hidden, copy: { key: ['id'], released: ['lease_holder', 'lease_expires_at'] } },
    event_subscriptions: { sql: hidden, copy: { key: ['event', 'kind', 'ref'] } },
  },
  async create(db, parts) {
    await db.schema
      .createTable('outbox')
      .addColumn('id', parts.textType, column => column.primaryKey())
      .addColumn('name', parts.textType, column => column.notNull())
      .addColumn('lane', parts.textType, column => column.notNull())
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
    await createIndexes(db, parts)
    await db.schema
      .createTable('event_subscriptions')
      .addColumn('event', parts.textType, column => column.notNull())
      .addColumn('kind', parts.textType, column => column.notNull())
      .addColumn('ref', parts.textType, column => column.notNull())
      .addPrimaryKeyConstraint('event_subscriptions_key', ['event', 'kind', 'ref'])
      .execute()
  },
})

/** What a look for due work reads, without the many entries that wait, and failed ones, which are kept for people. */
async function createIndexes(db: Kysely<unknown>, parts: SchemaParts): Promise<void> {
  const failedAt = parts.reference('failed_at')
  const holder = parts.reference('lease_holder')
  await db.schema
    .createIndex('outbox_free')
    .on('outbox')
    .columns(['lane', 'run_at', 'id'])
    .where(failedAt, 'is', null)
    .where(holder, 'is', null)
    .execute()
  await db.schema
    .createIndex('outbox_fresh')
    .on('outbox')
    .columns(['lane', 'run_at', 'id'])
    .where(failedAt, 'is', null)
    .where(holder, 'is', null)
    .where(parts.reference('attempts'), '=', 0)
    .where(parts.reference('run_at'), '<=', parts.reference('created_at'))
    .execute()
  await db.schema
    .createIndex('outbox_leased')
    .on('outbox')
    .columns(['lane', 'lease_expires_at'])
    .where(failedAt, 'is', null)
    .where(holder, 'is not', null)
    .execute()
  await db.schema
    .createIndex('outbox_failed_at')
    .on('outbox')
    .column('failed_at')
    .where(failedAt, 'is not', null)
    .execute()
  await db.schema
    .createIndex('outbox_key')
    .unique()
    .on('outbox')
    .column('key')
    .where('key', 'is not', null)
    .where(parts.reference('failed_at'), 'is', null)
    .execute()
}
