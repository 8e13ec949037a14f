import { text, textOrNull } from '#platform/columns.ts'
import { declarePlatformTables } from './table-set.ts'

/** Who changed what. No row is changed. */
export const auditTables = declarePlatformTables({
  audit_log: {
    columns: {
      id: text,
      created_at: text,
      /** No reference: a crowd of rows goes in portions. Null for what belongs to none, and for the deletion of one. */
      agent_id: textOrNull,
      actor_kind: text,
      actor_id: textOrNull,
      actor_name: textOrNull,
      actor_person: textOrNull,
      address: textOrNull,
      operation: text,
      object: textOrNull,
      outcome: text,
      /** JSON object. */
      changes: textOrNull,
    },
    agent: 'agent_id',
    indexes: { agent: ['agent_id', 'created_at', 'id'], created_at: ['created_at', 'id'] },
  },
})
