import type { Generated } from 'kysely'
import { defineAgentTables, hidden, readable } from './table-set.ts'

/** The passages that searches find. */
export interface KnowledgeTables {
  chunks: ChunksTable
  chunk_generations: ChunkGenerationsTable
}

interface ChunksTable {
  /** Row number that is shared by the full-text and vector indexes. */
  sequence: Generated<number>
  id: string
  source_id: string
  /** The website page that it is from, as named in `crawl_pages`; empty for a source that is a single document. */
  document: Generated<string>
  content: string
  /** Page counted from 1; null where the format has none. */
  page: number | null
  /** Heading above the text; null without one. */
  section: string | null
  /** Offsets into the source's extracted text, in UTF-16 units: the slice equals `content`. */
  start_offset: number
  end_offset: number
}

/**
 * Which chunks of a document are shown, and the progress of those that will replace them. A source has one row without
 * a document, which says who may write it, and if it is a website, one more for each page.
 */
interface ChunkGenerationsTable {
  source_id: string
  document: Generated<string>
  /** The document's chunks from this sequence up to the next one are shown; none if the first is greater. */
  first_sequence: number
  last_sequence: number
  /** 1 if the document has only chunks that are shown. */
  settled: number
  /** The attempt that has stored all chunks to be shown next; null if there is none. */
  draft: string | null
  /** The run that may write the source's chunks: the writes of any other are refused. */
  attempt: string | null
  /** The document's chunks up to this sequence are in the indexes. */
  indexed_sequence: number
  /** The embedding by whose vectors the shown chunks are found. */
  embedding: Generated<string>
}

export const knowledgeTables = defineAgentTables<KnowledgeTables, 'chunk_text'>({
  rules: {
    chunks: { sql: readable, copy: { key: ['sequence'], numbered: 'sequence' } },
    chunk_generations: { sql: hidden, copy: { key: ['source_id', 'document'], released: ['attempt'] } },
    chunk_text: { sql: hidden, copy: { instead: 'made anew from the chunks' } },
  },
  async create(db, parts) {
    await db.schema
      .createTable('chunks')
      .addColumn('sequence', parts.sequenceType, parts.sequence)
      .addColumn('id', parts.textType, column => column.notNull().unique())
      .addColumn('source_id', parts.textType, column =>
        column.notNull().references('sources.id').onDelete('cascade'),
      )
      .addColumn('document', parts.textType, column => column.notNull().defaultTo(''))
      .addColumn('content', parts.textType, column => column.notNull())
      .addColumn('page', 'integer')
      .addColumn('section', parts.textType)
      .addColumn('start_offset', 'integer', column => column.notNull())
      .addColumn('end_offset', 'integer', column => column.notNull())
      .execute()
    await db.schema
      .createIndex('chunks_source_document_sequence')
      .on('chunks')
      .columns(['source_id', 'document', 'sequence'])
      .execute()
    await db.schema
      .createTable('chunk_generations')
      .addColumn('source_id', parts.textType, column =>
        column.notNull().references('sources.id').onDelete('cascade'),
      )
      .addColumn('document', parts.textType, column => column.notNull().defaultTo(''))
      .addColumn('first_sequence', parts.sequenceReference, column => column.notNull())
      .addColumn('last_sequence', parts.sequenceReference, column => column.notNull())
      .addColumn('settled', 'integer', column => column.notNull())
      .addColumn('draft', parts.textType)
      .addColumn('attempt', parts.textType)
      .addColumn('indexed_sequence', parts.sequenceReference, column => column.notNull())
      .addColumn('embedding', parts.textType, column => column.notNull().defaultTo(''))
      .addPrimaryKeyConstraint('chunk_generations_key', ['source_id', 'document'])
      .execute()
    await parts.createFullText(db)
  },
})
