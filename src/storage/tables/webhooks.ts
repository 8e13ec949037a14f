import { defineAgentTables, hidden } from './table-set.ts'

/** Addresses that are sent events of the agent. Hidden from SQL, since addresses and answers may hold tokens of others. */
export interface WebhookTables {
  webhooks: WebhooksTable
  webhook_deliveries: WebhookDeliveriesTable
}

interface WebhooksTable {
  id: string
  url: string
  /** JSON list of names, or of `*`. */
  events: string
  /** Why it gets nothing; null while it is enabled. */
  disabled_reason: string | null
  /** Since when nothing but failures came back; null after a success. */
  failing_since: string | null
  /** The set of its signing secrets. */
  secret_set: string | null
  created_at: string
  updated_at: string
}

interface WebhookDeliveriesTable {
  id: string
  webhook_id: string
  event: string
  /** As it is sent each time. */
  body: string
  status: string
  attempts: number
  /** What came of the last attempt; null before it has ended, `status_code` also where no answer came. */
  status_code: number | null
  duration_ms: number | null
  answer: string | null
  /** Null unless it is pending. */
  next_attempt_at: string | null
  created_at: string
}

export const webhookTables = defineAgentTables<WebhookTables>({
  rules: {
    webhooks: { sql: hidden, copy: { key: ['id'] } },
    webhook_deliveries: { sql: hidden, copy: { key: ['id'] } },
  },
  async create(db, parts) {
    await db.schema
      .createTable('webhooks')
      .addColumn('id', parts.textType, column => column.primaryKey())
      .addColumn('url', parts.textType, column => column.notNull())
      .addColumn('events', parts.textType, column => column.notNull())
      .addColumn('disabled_reason', parts.textType)
      .addColumn('failing_since', parts.textType)
      .addColumn('secret_set', parts.textType)
      .addColumn('created_at', parts.textType, column => column.notNull())
      .addColumn('updated_at', parts.textType, column => column.notNull())
      .execute()
    await db.schema
      .createTable('webhook_deliveries')
      .addColumn('id', parts.textType, column => column.primaryKey())
      .addColumn('webhook_id', parts.textType, column =>
        column.notNull().references('webhooks.id').onDelete('cascade'),
      )
      .addColumn('event', parts.textType, column => column.notNull())
      .addColumn('body', parts.textType, column => column.notNull())
      .addColumn('status', parts.textType, column => column.notNull())
      .addColumn('attempts', 'integer', column => column.notNull())
      .addColumn('status_code', 'integer')
      .addColumn('duration_ms', 'integer')
      .addColumn('answer', parts.textType)
      .addColumn('next_attempt_at', parts.textType)
      .addColumn('created_at', parts.textType, column => column.notNull())
      .execute()
    await db.schema
      .createIndex('webhook_deliveries_created_at')
      .on('webhook_deliveries')
      .columns(['webhook_id', 'created_at', 'id'])
      .execute()
    await db.schema
      .createIndex('webhook_deliveries_pending')
      .on('webhook_deliveries')
      .columns(['webhook_id', 'next_attempt_at', 'id'])
      .where(parts.reference('next_attempt_at'), 'is not', null)
      .execute()
  },
})
