import { bigint, float, text, textOrNull } from '#platform/columns.ts'
import { declareAgentTables, readable } from './table-set.ts'

/** Files that people send with messages. Their bytes are stored under their ids, see `../files`. */
export const chatFileTables = declareAgentTables({
  chat_files: {
    sql: readable,
    columns: {
      id: text,
      /** Null until the file is sent. A job removes the file once the message is gone. */
      conversation_id: textOrNull,
      message_id: textOrNull,
      name: text,
      mime_type: text,
      /** Stored size in bytes. */
      size: bigint,
      /** `image`, `document` or `other`, by the content. */
      kind: text,
      /** `receiving` until the bytes are stored. */
      status: text,
      /** From 0 to 1. */
      progress: float,
      /** The reason why the file can't be read, as a sentence for a person. */
      error: textOrNull,
      created_at: text,
      /** Identity of its sender. */
      created_by: text,
    },
    indexes: { message: ['message_id'], conversation: ['conversation_id'] },
  },
})
