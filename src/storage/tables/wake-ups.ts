import type { WakeUpTables } from '#platform/jobs/tables.ts'
import { definePlatformTables } from './table-set.ts'

export const wakeUpTables = definePlatformTables<WakeUpTables>({
  rules: {
    wake_ups: { copy: { instead: 'made anew from the outboxes' } },
  },
  async create(db, parts) {
    await db.schema
      .createTable('wake_ups')
      .addColumn('agent_id', parts.textType, column => column.primaryKey())
      .addColumn('due_at', parts.textType, column => column.notNull())
      .execute()
    await db.schema.createIndex('wake_ups_due_at').on('wake_ups').column('due_at').execute()
  },
})
