import { bigint, integer, sequence, since, text, textOrNull, unique } from '#platform/columns.ts'
import { declareAgentTables, hidden, readable } from './table-set.ts'

/** Messages that people write to the agent on messengers. */
export const channelTables = declareAgentTables({
  /** One for each person on each messenger. */
  channel_threads: {
    sql: readable,
    columns: {
      /** Also the id of the conversation. */
      id: text,
      channel: text,
      /** The id of a chat on Telegram, a number on WhatsApp. */
      address: text,
      /** Not a reference, since SQL of the agent may delete contacts, and nothing here. */
      contact_id: text,
      last_message_at: text,
      /** By which WhatsApp knows a person also where it hides their number. */
      user_id: since('0022-channel-edits', textOrNull),
      /** When the budget begins anew that the person was told to be spent. */
      told_until: since('0036-usage', textOrNull),
    },
    together: { address: ['channel', 'address'] },
  },
  channel_updates: {
    sql: hidden,
    columns: {
      /** Order of arrival. */
      sequence,
      /** The same when the messenger delivers it again. */
      id: unique(text),
      thread_id: text,
      /** Where the messenger places it within the thread. */
      position: bigint,
      /** Null once it is answered, or if it is not read; empty for the first of a minute that is not. */
      text: textOrNull,
      /** The message of the conversation that it becomes a part of. */
      message_id: textOrNull,
      received_at: text,
      /** The text once it is answered, for edits; null before. */
      answered: since('0022-channel-edits', textOrNull),
      /** JSON object: a file at the messenger, or once it was received, `attachment` with its id. */
      file: since('0040-channel-files', textOrNull),
    },
    key: ['sequence'],
    indexes: {
      open: { on: ['thread_id'], where: [['text', 'is not', null]] },
      received_at: ['thread_id', 'received_at'],
    },
  },
  /** Messages of several parts that are being sent. */
  channel_deliveries: {
    sql: hidden,
    columns: {
      key: text,
      /** How many of the parts. */
      sent: integer,
      /** The messenger's id of the first one. */
      message_id: text,
    },
    key: ['key'],
  },
})
