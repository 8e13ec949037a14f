import type { Kysely } from 'kysely'
import { sequence, text, textOrNull } from '#platform/columns.ts'
import { declareAgentTables, declarePlatformTables, hidden } from './table-set.ts'

/** The log of changes and their authors. Rows never change. */
export const auditTables = declarePlatformTables({
  audit_log: {
    columns: {
      id: text,
      created_at: text,
      /** No reference: many rows are removed in batches. Null without an agent, and for its deletion. */
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

/**
 * Rows on their way to the log, as JSON, committed with the changes of the agent. The key is their only
 * index, because each change of the agent adds a row.
 */
export const auditRowTables = declareAgentTables(
  { audit_rows: { sql: hidden, columns: { number: sequence, payload: text }, key: ['number'] } },
  { create: db => takeFromOutbox(db as Kysely<Moved>) },
)

interface Moved {
  audit_rows: { payload: string }
  outbox: { name: string; payload: string }
}

/** Moves the rows that earlier builds left in the outbox. */
async function takeFromOutbox(db: Kysely<Moved>): Promise<void> {
  const left = db.selectFrom('outbox').select('payload').where('name', '=', 'audit')
  await db.insertInto('audit_rows').columns(['payload']).expression(left).execute()
}
