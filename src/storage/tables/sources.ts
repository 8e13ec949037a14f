import { bytes, float, integer, integerOrNull, since, text, textOrNull } from '#platform/columns.ts'
import { declareAgentTables, hidden, readable } from './table-set.ts'

/** Sources of an agent's knowledge. */
export const sourceTables = declareAgentTables({
  sources: {
    sql: readable,
    columns: {
      id: text,
      type: text,
      name: text,
      status: text,
      /** The failure, as a sentence for a person; null unless `status` is `error`. */
      error: textOrNull,
      /** JSON array of sentences that name unreadable parts of its file; null without any. */
      warnings: since('0039-source-warnings', textOrNull),
      /** 0 to 1. */
      progress: float,
      /** Number of chunks; null until processed. */
      chunks: integerOrNull,
      /** Generated name under which the upload is stored; null if there is no file. */
      file_path: textOrNull,
      /** JSON object; secrets of it are in the platform database. */
      config: text,
      /** The set of its secrets; null without any. */
      secret_set: textOrNull,
      /** JSON object that distinguishes the content found at the last fetch from any other; null while nothing fetched is shown. */
      last_copy: textOrNull,
      created_at: text,
      updated_at: text,
      /** Time since which it has been invisible, while a job removes it; null for all others. */
      removed_at: textOrNull,
      /**
       * The embedding that a job gives the chunks, or, while the source is in error, failed to give them;
       * null for all others.
       */
      new_embedding: textOrNull,
    },
    indexes: { created_at: ['created_at'] },
  },
  /** Uploads, if they are stored in the database. */
  file_parts: {
    sql: hidden,
    columns: {
      /** Name of the file: `file_path` of its source. */
      file_id: text,
      /** From 0. */
      number: integer,
      content: bytes,
    },
    instead: 'the files are copied, wherever they are kept',
    key: ['file_id', 'number'],
    keyName: 'file_parts_primary_key',
  },
})
