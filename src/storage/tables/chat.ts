import {
  type Columns,
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

/** The holder of locks of conversations whose turns wait for a person, instead of a process. */
export const waitingHolder = 'waiting'

/**
 * SQL expression of whose conversations count together, the same on every engine: those of an author, in MCP sessions too, or
 * with an empty text all those on channels.
 */
export const conversationShare =
  "case when channel is not null then '' when substr(created_by, 1, 4) = 'mcp:' then substr(created_by, 5) else coalesce(created_by, 'anonymous') end"

/** Finds the conversations of an author, and counts those of all. */
export const conversationShareIndex = declareAgentTables<Record<never, Columns>>(
  {},
  {
    async create({ schema }, parts) {
      const index = schema.createIndex('conversations_share').on('conversations')
      await index.expression(parts.expression(`(${conversationShare})`)).execute()
    },
  },
)

/** Conversations, and their calls that wait for a person. */
export const chatTables = declareAgentTables({
  // Their number, order and lock are managed by the service: an additional or missing row would break its protocol.
  conversations: {
    sql: updatable('title'),
    columns: {
      id: text,
      title: text,
      /** The conversation's messaging channel; null for one in the service itself. */
      channel: textOrNull,
      message_count: integer,
      last_message_at: textOrNull,
      created_at: text,
      /** The process that holds the lock; null while unlocked. */
      lock_holder: lease,
      /** Fencing token: increases with each lock, and every write of the holder names it. */
      lock_token: integer,
      lock_expires_at: lease,
      /** The turn that the lock was last taken for, its author and start; null for another purpose. */
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
      /** Identity of its author; for an answer, of the caller who gets it. */
      created_by: since('0032-authors', textOrNull),
      /** JSON of the parts of an answer's prompt that are in no other column; null if unknown. */
      sent: since('0036-usage', textOrNull),
      /** Rating of an answer: 1 for good, -1 for bad. */
      rating: since('0037-feedback', integerOrNull),
      /** JSON: remarks with the rating, their author and time. */
      feedback: since('0037-feedback', textOrNull),
    },
    key: ['sequence'],
    indexes: { conversation_sequence: ['conversation_id', 'sequence'] },
  },
  /** Calls that wait for a person's decision, and decided ones. */
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
