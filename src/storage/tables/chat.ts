import type { Generated } from 'kysely'
import { defineAgentTables, readable, updatable } from './table-set.ts'

/** Conversations, and the calls in them that wait for a person. */
export interface ChatTables {
  conversations: ConversationsTable
  messages: MessagesTable
  tool_approvals: ToolApprovalsTable
}

interface ConversationsTable {
  id: string
  title: string
  /** The messaging channel that it is held on; null for one that is held here. */
  channel: string | null
  message_count: number
  last_message_at: string | null
  created_at: string
  /** The process that holds the lock; null while unlocked. */
  lock_holder: string | null
  /** Fencing token: increases with each lock, and every write of the holder names it. */
  lock_token: number
  lock_expires_at: string | null
  /** Identity of the caller that began it, such as `x402:<network>:<address>`; null if unknown. */
  created_by: string | null
}

interface MessagesTable {
  /** Order of arrival, unique in the database. */
  sequence: Generated<number>
  id: string
  conversation_id: string
  role: string
  content: string
  /** JSON arrays and object, or null. */
  tool_calls: string | null
  tool_results: string | null
  metadata: string | null
  created_at: string
}

/** Calls that wait for a person's decision, or have had it. */
interface ToolApprovalsTable {
  tool_call_id: string
  /** The answer that contains the call. */
  message_id: string
  conversation_id: string
  name: string
  /** JSON object. */
  arguments: string
  /** The tool as it was when the call was requested. */
  tool_version: string
  status: string
  created_at: string
  decided_at: string | null
}

export const chatTables = defineAgentTables<ChatTables>({
  rules: {
    // Their number, order and lock are managed by the service: an additional or missing row would break its protocol.
    conversations: {
      sql: updatable('title'),
      copy: { key: ['id'], released: ['lock_holder', 'lock_expires_at'] },
    },
    // Text known to come from outsiders must not be moved to where that is unknown.
    messages: { sql: readable, copy: { key: ['sequence'], numbered: 'sequence' } },
    tool_approvals: { sql: readable, copy: { key: ['tool_call_id'] } },
  },
  async create(db, parts) {
    await db.schema
      .createTable('conversations')
      .addColumn('id', parts.textType, column => column.primaryKey())
      .addColumn('title', parts.textType, column => column.notNull())
      .addColumn('channel', parts.textType)
      .addColumn('message_count', 'integer', column => column.notNull())
      .addColumn('last_message_at', parts.textType)
      .addColumn('created_at', parts.textType, column => column.notNull())
      .addColumn('lock_holder', parts.textType)
      .addColumn('lock_token', 'integer', column => column.notNull())
      .addColumn('lock_expires_at', parts.textType)
      .execute()
    await db.schema
      .createIndex('conversations_last_message_at')
      .on('conversations')
      .column('last_message_at')
      .execute()
    await db.schema
      .createTable('messages')
      .addColumn('sequence', parts.sequenceType, parts.sequence)
      .addColumn('id', parts.textType, column => column.notNull().unique())
      .addColumn('conversation_id', parts.textType, column =>
        column.notNull().references('conversations.id').onDelete('cascade'),
      )
      .addColumn('role', parts.textType, column => column.notNull())
      .addColumn('content', parts.textType, column => column.notNull())
      .addColumn('tool_calls', parts.textType)
      .addColumn('tool_results', parts.textType)
      .addColumn('metadata', parts.textType)
      .addColumn('created_at', parts.textType, column => column.notNull())
      .execute()
    await db.schema
      .createIndex('messages_conversation_sequence')
      .on('messages')
      .columns(['conversation_id', 'sequence'])
      .execute()
    await db.schema
      .createTable('tool_approvals')
      .addColumn('tool_call_id', parts.textType, column => column.primaryKey())
      .addColumn('message_id', parts.textType, column =>
        column.notNull().references('messages.id').onDelete('cascade'),
      )
      .addColumn('conversation_id', parts.textType, column => column.notNull())
      .addColumn('name', parts.textType, column => column.notNull())
      .addColumn('arguments', parts.textType, column => column.notNull())
      .addColumn('tool_version', parts.textType, column => column.notNull())
      .addColumn('status', parts.textType, column => column.notNull())
      .addColumn('created_at', parts.textType, column => column.notNull())
      .addColumn('decided_at', parts.textType)
      .execute()
    await db.schema.createIndex('tool_approvals_message').on('tool_approvals').column('message_id').execute()
  },
})

/** The same tables, with the authors of conversations. */
export const conversationAuthorTables: typeof chatTables = {
  ...chatTables,
  async create(db, parts) {
    await db.schema.alterTable('conversations').addColumn('created_by', parts.textType).execute()
  },
}
