import { text, textOrNull } from '#platform/columns.ts'
import { declareAgentTables, hidden } from './table-set.ts'

/** Messages that inform a contact of pending decisions. */
export const noticeTables = declareAgentTables({
  notices: {
    sql: hidden,
    columns: {
      /** Id of the event. */
      id: text,
      /** `telegram`, `whatsapp` or `email`. */
      channel: text,
      /** Not a reference: an agent's SQL may delete contacts, and no rows here. */
      contact_id: text,
      /** JSON object of the ids of the pending decision; null if the notice decides nothing. */
      subject: textOrNull,
      /** The text that was sent, without links. */
      text,
      created_at: text,
      expires_at: text,
      sent_at: textOrNull,
      /** The reason why it was not sent. */
      error: textOrNull,
      /** The decision that was made with the notice, in words. */
      outcome: textOrNull,
    },
  },
})
