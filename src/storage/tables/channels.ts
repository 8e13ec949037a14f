import { bigint, integer, sequence, since, text, textOrNull, unique } from '#platform/columns.ts'
import { declareAgentTables, hidden, readable } from './table-set.ts'

/** Messages that people write to the agent on messengers. */
export const channelTables = declareAgentTables({
  /** One row for each person on each messenger. */
  channel_threads: {
    sql: readable,
    columns: {
      /** Id of the thread and of its conversation. */
      id: text,
      channel: text,
      /** The id of a chat on Telegram, a number on WhatsApp. */
      address: text,
      /** Not a reference: an agent's SQL may delete contacts, and no rows here. */
      contact_id: text,
      last_message_at: text,
      /** WhatsApp's id of a person, known even if their number is hidden. */
      user_id: since('0022-channel-edits', textOrNull),
      /** Reset time of the spent budget of which the person was informed. */
      told_until: since('0036-usage', textOrNull),
    },
    together: { address: ['channel', 'address'] },
  },
  channel_updates: {
    sql: hidden,
    columns: {
      /** Order of arrival. */
      sequence,
      /** Id of the message, the same if the messenger delivers it again. */
      id: unique(text),
      thread_id: text,
      /** The messenger's position of the message in the thread. */
      position: bigint,
      /** Null once answered, or if not read; empty for the first unread message of a minute. */
      text: textOrNull,
      /** The message of the conversation that includes this one. */
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
      /** Number of sent parts. */
      sent: integer,
      /** The messenger's id of the first part. */
      message_id: text,
    },
    key: ['key'],
  },
})
