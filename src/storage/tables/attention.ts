import type { Columns } from '#platform/columns.ts'
import { declareAgentTables } from './table-set.ts'

/** Finds the few rows that wait for a person among the many that do not. */
export const attentionIndexes = declareAgentTables<Record<never, Columns>>(
  {},
  {
    async create({ schema }, parts) {
      const indexes = [
        ['tool_approvals', 'status', 'pending', 'created_at'],
        ['payment_notifications', 'status', 'unmatched', 'created_at'],
        ['executions', 'status', 'errored', 'completed_at'],
      ] as const
      for (const [table, column, value, by] of indexes)
        await schema
          .createIndex(`${table}_${value}`)
          .on(table)
          .column(by)
          .where(parts.reference(column), '=', value)
          .execute()
      const waiting = schema.createIndex('executions_waiting').on('executions').column('waiting_until')
      await waiting.where(parts.reference('waiting_until'), 'is not', null).execute()
    },
  },
)
