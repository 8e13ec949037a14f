import { defineAgentTables, hidden, readable } from './table-set.ts'

/** What an agent answers from. */
export interface SourceTables {
  sources: SourcesTable
  file_parts: FilePartsTable
}

interface SourcesTable {
  id: string
  type: string
  name: string
  status: string
  /** What went wrong, as a sentence for a person; null unless `status` is `error`. */
  error: string | null
  /** 0 to 1. */
  progress: number
  /** Number of chunks; null until processed. */
  chunks: number | null
  /** Generated name under which the upload is stored; null if there is no file. */
  file_path: string | null
  /** JSON object; secrets of it are in the platform database. */
  config: string
  /** The set of its secrets; null without any. */
  secret_set: string | null
  /** JSON object that distinguishes the content found at the last fetch from any other; null while nothing fetched is shown. */
  last_copy: string | null
  created_at: string
  updated_at: string
  /** Since when it has been invisible, while a job removes it; null for all others. */
  removed_at: string | null
  /**
   * The embedding that a job is replacing the chunks' old one with, or, while the source is in error, failed to; null
   * for all others.
   */
  new_embedding: string | null
}

/** Uploads, if they are stored in the database. */
interface FilePartsTable {
  /** Name of the file, as `file_path` of its source. */
  file_id: string
  /** From 0. */
  number: number
  content: Uint8Array
}

export const sourceTables = defineAgentTables<SourceTables>({
  rules: {
    sources: { sql: readable, copy: { key: ['id'] } },
    file_parts: { sql: hidden, copy: { instead: 'the files are copied, wherever they are kept' } },
  },
  async create(db, parts) {
    await db.schema
      .createTable('sources')
      .addColumn('id', parts.textType, column => column.primaryKey())
      .addColumn('type', parts.textType, column => column.notNull())
      .addColumn('name', parts.textType, column => column.notNull())
      .addColumn('status', parts.textType, column => column.notNull())
      .addColumn('error', parts.textType)
      .addColumn('progress', 'double precision', column => column.notNull())
      .addColumn('chunks', 'integer')
      .addColumn('file_path', parts.textType)
      .addColumn('config', parts.textType, column => column.notNull())
      .addColumn('secret_set', parts.textType)
      .addColumn('last_copy', parts.textType)
      .addColumn('created_at', parts.textType, column => column.notNull())
      .addColumn('updated_at', parts.textType, column => column.notNull())
      .addColumn('removed_at', parts.textType)
      .addColumn('new_embedding', parts.textType)
      .execute()
    await db.schema.createIndex('sources_created_at').on('sources').column('created_at').execute()
    await db.schema
      .createTable('file_parts')
      .addColumn('file_id', parts.textType, column => column.notNull())
      .addColumn('number', 'integer', column => column.notNull())
      .addColumn('content', parts.bytesType, column => column.notNull())
      .addPrimaryKeyConstraint('file_parts_primary_key', ['file_id', 'number'])
      .execute()
  },
})
