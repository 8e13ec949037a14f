import type { WakeUpTables } from '#platform/jobs/tables.ts'
import { definePlatformTables } from './table-set.ts'

export const wakeUpTables = definePlatformTables<WakeUpTables>({
  rules: {
    wake_ups: { copy: { instead: 'made anew from the outboxes' } },
  },
  async create(db, parts) {
    await db.schema
      .createTable('wake_ups')
      .addColumn('agent_id', parts.textType, column => column.notNull())
      .addColumn('lane', parts.textType, column => column.notNull())
      .addColumn('due_at', parts.textType, column => column.notNull())
      .addPrimaryKeyConstraint('wake_ups_key', ['agent_id', 'lane'])
      .execute()
    await db.schema.createIndex('wake_ups_due_at').on('wake_ups').columns(['lane', 'due_at']).execute()
  },
})
