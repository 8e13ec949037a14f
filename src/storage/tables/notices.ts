import { text, textOrNull } from '#platform/columns.ts'
import { declareAgentTables, hidden } from './table-set.ts'

/** Messages that tell a contact what waits for a decision. */
export const noticeTables = declareAgentTables({
  notices: {
    sql: hidden,
    columns: {
      /** Of the event. */
      id: text,
      /** `telegram`, `whatsapp` or `email`. */
      channel: text,
      /** Not a reference, since SQL of the agent may delete contacts, and nothing here. */
      contact_id: text,
      /** JSON object of the ids of what waits; null if there is nothing to be decided by the notice. */
      subject: textOrNull,
      /** As it was sent, without links. */
      text,
      created_at: text,
      expires_at: text,
      sent_at: textOrNull,
      /** Why it was not sent. */
      error: textOrNull,
      /** The decision that was made by it, in words. */
      outcome: textOrNull,
    },
  },
})
