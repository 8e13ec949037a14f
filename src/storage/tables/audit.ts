import { text, textOrNull } from '#platform/columns.ts'
import { declarePlatformTables } from './table-set.ts'

/** Who changed what. Rows are added, and removed when they are old or their agent is deleted; none is changed. */
export const auditTables = declarePlatformTables({
  audit_log: {
    columns: {
      id: text,
      created_at: text,
      /** Without a reference, since rows may come when the agent has just been deleted; null for what belongs to none. */
      agent_id: textOrNull,
      actor_kind: text,
      actor_id: textOrNull,
      actor_name: textOrNull,
      /** Of a key, the e-mail address of the person who made it. */
      actor_person: textOrNull,
      address: textOrNull,
      operation: text,
      object: textOrNull,
      /** `done`, `refused` or `failed`. */
      outcome: text,
      /** JSON object, or null. */
      changes: textOrNull,
    },
    agent: 'agent_id',
    indexes: { agent: ['agent_id', 'created_at', 'id'], created_at: ['created_at', 'id'] },
  },
})
