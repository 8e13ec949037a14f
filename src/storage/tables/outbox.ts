import type { Columns } from '#platform/columns.ts'
import { eventSubscriptionColumns, outboxColumns } from '#platform/jobs/tables.ts'
import { declareAgentTables, hidden } from './table-set.ts'

/** Jobs and event subscriptions. */
export const outboxTables = declareAgentTables({
  outbox: {
    sql: hidden,
    columns: outboxColumns,
    // A search for due work reads neither the many entries that wait nor failed ones, which are kept for people.
    indexes: {
      free: {
        on: ['lane', 'run_at', 'id'],
        where: [
          ['failed_at', 'is', null],
          ['lease_holder', 'is', null],
        ],
      },
      fresh: {
        on: ['lane', 'run_at', 'id'],
        where: [
          ['failed_at', 'is', null],
          ['lease_holder', 'is', null],
          ['attempts', '=', 0],
          ['run_at', '<=', 'created_at'],
        ],
      },
      leased: {
        on: ['lane', 'lease_expires_at'],
        where: [
          ['failed_at', 'is', null],
          ['lease_holder', 'is not', null],
        ],
      },
      failed_at: { on: ['failed_at'], where: [['failed_at', 'is not', null]] },
      key: {
        on: ['key'],
        isUnique: true,
        where: [
          ['key', 'is not', null],
          ['failed_at', 'is', null],
        ],
      },
    },
  },
  event_subscriptions: {
    sql: hidden,
    columns: eventSubscriptionColumns,
    key: ['event', 'kind', 'ref'],
  },
})

/** Separates the jobs that might have ended processes from all others. */
export const outboxSuspects = declareAgentTables<Record<never, Columns>>(
  {},
  {
    create: (db, parts) =>
      db.schema
        .createIndex('outbox_suspects')
        .on('outbox')
        .columns(['lane', 'run_at', 'id'])
        .where(parts.reference('failed_at'), 'is', null)
        .where(parts.expression('attempts - failures'), '>=', 2)
        .execute(),
  },
)
