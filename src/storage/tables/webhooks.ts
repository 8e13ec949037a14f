import { integer, integerOrNull, partOf, text, textOrNull } from '#platform/columns.ts'
import { declareAgentTables, hidden } from './table-set.ts'

/** Addresses that get events of the agent. Hidden from SQL: addresses and answers can hold tokens. */
export const webhookTables = declareAgentTables({
  webhooks: {
    sql: hidden,
    columns: {
      id: text,
      url: text,
      /** JSON list of names, or of `*`. */
      events: text,
      /** The reason why it gets no events; null while it is enabled. */
      disabled_reason: textOrNull,
      /** Time since which all deliveries have failed; null after a success. */
      failing_since: textOrNull,
      /** The set of its signing secrets. */
      secret_set: textOrNull,
      created_at: text,
      updated_at: text,
    },
  },
  webhook_deliveries: {
    sql: hidden,
    columns: {
      id: text,
      webhook_id: partOf('webhooks'),
      event: text,
      /** The body of each attempt. */
      body: text,
      status: text,
      attempts: integer,
      /** Result of the last attempt; null before it has ended, `status_code` also where no answer came. */
      status_code: integerOrNull,
      duration_ms: integerOrNull,
      answer: textOrNull,
      /** Null unless it is pending. */
      next_attempt_at: textOrNull,
      created_at: text,
    },
    indexes: {
      created_at: ['webhook_id', 'created_at', 'id'],
      pending: {
        on: ['webhook_id', 'next_attempt_at', 'id'],
        where: [['next_attempt_at', 'is not', null]],
      },
    },
  },
})
