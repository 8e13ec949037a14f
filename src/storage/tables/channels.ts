import type { Generated } from 'kysely'
import { defineAgentTables, hidden, readable } from './table-set.ts'

/** What people write to the agent on messengers. */
export interface ChannelTables {
  channel_threads: ChannelThreadsTable
  channel_updates: ChannelUpdatesTable
  channel_deliveries: ChannelDeliveriesTable
}

/** One for each person on each messenger. */
interface ChannelThreadsTable {
  /** Also the id of the conversation. */
  id: string
  channel: string
  /** The id of a chat on Telegram, a number on WhatsApp. */
  address: string
  /** Not a reference, since SQL of the agent may delete contacts, and nothing here. */
  contact_id: string
  last_message_at: string
}

interface ChannelUpdatesTable {
  /** Order of arrival. */
  sequence: Generated<number>
  /** The same when the messenger delivers it again. */
  id: string
  thread_id: string
  /** Where the messenger places it within the thread. */
  position: number
  /** Null once it is answered, or if it is not read; empty for the first of a minute that is not. */
  text: string | null
  /** The message of the conversation that it becomes a part of. */
  message_id: string | null
  received_at: string
}

/** Messages of several parts that are being sent. */
interface ChannelDeliveriesTable {
  key: string
  /** How many of the parts. */
  sent: number
  /** The messenger's id of the first one. */
  message_id: string
}

export const channelTables = defineAgentTables<ChannelTables>({
  rules: {
    channel_threads: { sql: readable, copy: { key: ['id'] } },
    channel_updates: { sql: hidden, copy: { key: ['sequence'], numbered: 'sequence' } },
    channel_deliveries: { sql: hidden, copy: { key: ['key'] } },
  },
  async create(db, parts) {
    await db.schema
      .createTable('channel_threads')
      .addColumn('id', parts.textType, column => column.primaryKey())
      .addColumn('channel', parts.textType, column => column.notNull())
      .addColumn('address', parts.textType, column => column.notNull())
      .addColumn('contact_id', parts.textType, column => column.notNull())
      .addColumn('last_message_at', parts.textType, column => column.notNull())
      .addUniqueConstraint('channel_threads_address', ['channel', 'address'])
      .execute()
    await db.schema
      .createTable('channel_updates')
      .addColumn('sequence', parts.sequenceType, parts.sequence)
      .addColumn('id', parts.textType, column => column.notNull().unique())
      .addColumn('thread_id', parts.textType, column => column.notNull())
      .addColumn('position', 'bigint', column => column.notNull())
      .addColumn('text', parts.textType)
      .addColumn('message_id', parts.textType)
      .addColumn('received_at', parts.textType, column => column.notNull())
      .execute()
    const updates = db.schema.createIndex('channel_updates_received_at').on('channel_updates')
    await updates.columns(['thread_id', 'received_at']).execute()
    const open = db.schema.createIndex('channel_updates_open').on('channel_updates').column('thread_id')
    await open.where(parts.reference('text'), 'is not', null).execute()
    await db.schema
      .createTable('channel_deliveries')
      .addColumn('key', parts.textType, column => column.primaryKey())
      .addColumn('sent', 'integer', column => column.notNull())
      .addColumn('message_id', parts.textType, column => column.notNull())
      .execute()
  },
})
