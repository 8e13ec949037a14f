import type { Columns } from '#platform/columns.ts'
import { declareAgentTables } from './table-set.ts'

/** Finds the few executions that wait for a person among the many that do not; other tables are small. */
export const attentionIndexes = declareAgentTables<Record<never, Columns>>(
  {},
  {
    async create({ schema }, parts) {
      const failed = schema.createIndex('executions_errored').on('executions').column('completed_at')
      await failed.where(parts.reference('status'), '=', 'errored').execute()
      const waiting = schema.createIndex('executions_waiting').on('executions').column('waiting_until')
      await waiting.where(parts.reference('waiting_until'), 'is not', null).execute()
    },
  },
)
