import {
  integer,
  integerOrNull,
  lease,
  partOf,
  sequence,
  since,
  text,
  textOrNull,
  unique,
} from '#platform/columns.ts'
import { declareAgentTables, readable, updatable } from './table-set.ts'

/** Holds the locks of conversations whose turns wait for a person: no process does. */
export const waitingHolder = 'waiting'

/** Conversations, and the calls in them that wait for a person. */
export const chatTables = declareAgentTables({
  // Their number, order and lock are managed by the service: an additional or missing row would break its protocol.
  conversations: {
    sql: updatable('title'),
    columns: {
      id: text,
      title: text,
      /** The messaging channel that it is held on; null for one that is held here. */
      channel: textOrNull,
      message_count: integer,
      last_message_at: textOrNull,
      created_at: text,
      /** The process that holds the lock; null while unlocked. */
      lock_holder: lease,
      /** Fencing token: increases with each lock, and every write of the holder names it. */
      lock_token: integer,
      lock_expires_at: lease,
      /** The turn that the lock was last taken for, who began it, and when; null if it was taken for something else. */
      turn_id: since('0034-turns', lease),
      turn_by: since('0034-turns', lease),
      turn_since: since('0034-turns', lease),
      /** Identity of its author, such as `person:<e-mail address>`, see docs/chat.md; null if unknown. */
      created_by: since('0018-conversation-authors', textOrNull),
    },
    indexes: { last_message_at: ['last_message_at'] },
  },
  // An agent's SQL must not move text of outsiders to where its origin is unknown.
  messages: {
    sql: readable,
    columns: {
      /** Order of arrival, unique in the database. */
      sequence,
      id: unique(text),
      conversation_id: partOf('conversations'),
      role: text,
      content: text,
      /** JSON arrays and object, or null. */
      tool_calls: textOrNull,
      tool_results: textOrNull,
      metadata: textOrNull,
      created_at: text,
      /** Identity of its author; of an answer, that of the caller who is answered. */
      created_by: since('0032-authors', textOrNull),
      /** How the prompt of an answer went beyond the other columns, as JSON; null if that is unknown. */
      sent: since('0036-usage', textOrNull),
      /** Of an answer: 1 for good, -1 for bad. */
      rating: since('0037-feedback', integerOrNull),
      /** JSON: what else was said with the rating, by whom and when. */
      feedback: since('0037-feedback', textOrNull),
    },
    key: ['sequence'],
    indexes: { conversation_sequence: ['conversation_id', 'sequence'] },
  },
  /** Calls that wait for a person's decision, or have had it. */
  tool_approvals: {
    sql: readable,
    columns: {
      tool_call_id: text,
      /** The answer that contains the call. */
      message_id: partOf('messages'),
      conversation_id: text,
      name: text,
      /** JSON object. */
      arguments: text,
      /** The tool as it was when the call was requested. */
      tool_version: text,
      status: text,
      created_at: text,
      decided_at: textOrNull,
    },
    key: ['tool_call_id'],
    indexes: { message: ['message_id'] },
  },
})
