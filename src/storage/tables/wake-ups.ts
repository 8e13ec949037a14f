import { wakeUpColumns } from '#platform/jobs/tables.ts'
import { declarePlatformTables } from './table-set.ts'

export const wakeUpTables = declarePlatformTables({
  wake_ups: {
    columns: wakeUpColumns,
    instead: 'derived from the outboxes',
    key: ['agent_id', 'lane'],
    indexes: { due_at: ['lane', 'due_at'] },
  },
})
