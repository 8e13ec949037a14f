import {
  integer,
  integerOrNull,
  lease,
  partOf,
  sequence,
  sequenceReference,
  text,
  textOrNull,
  unique,
  withDefault,
} from '#platform/columns.ts'
import { declareAgentTables, hidden, readable } from './table-set.ts'

/** The passages that searches find. */
export const knowledgeTables = declareAgentTables(
  {
    chunks: {
      sql: readable,
      columns: {
        /** Row number that is shared by the full-text and vector indexes. */
        sequence,
        id: unique(text),
        source_id: partOf('sources'),
        /** The chunk's website page, as named in `crawl_pages`; empty for a source of one document. */
        document: withDefault(text, ''),
        content: text,
        /** Page counted from 1; null where the format has none. */
        page: integerOrNull,
        /** Heading above the text; null without one. */
        section: textOrNull,
        /** Offsets into the source's extracted text, in UTF-16 units: the slice equals `content`. */
        start_offset: integer,
        end_offset: integer,
      },
      key: ['sequence'],
      indexes: { source_document_sequence: ['source_id', 'document', 'sequence'] },
    },
    /**
     * The shown chunks of a document, and the progress of their replacements. A source has one row without a
     * document, which names the run that may write it, and a website has one more for each page.
     */
    chunk_generations: {
      sql: hidden,
      columns: {
        source_id: partOf('sources'),
        document: withDefault(text, ''),
        /** The document's chunks from this sequence up to the next one are shown; none if the first is greater. */
        first_sequence: sequenceReference,
        last_sequence: sequenceReference,
        /** 1 if the document has only chunks that are shown. */
        settled: integer,
        /** The attempt that stored all chunks to be shown next; null if there is none. */
        draft: textOrNull,
        /** The run that may write the source's chunks: the writes of any other are refused. */
        attempt: lease,
        /** The document's chunks up to this sequence are in the indexes. */
        indexed_sequence: sequenceReference,
        /** The embedding by whose vectors the shown chunks are found. */
        embedding: withDefault(text, ''),
      },
      key: ['source_id', 'document'],
    },
  },
  {
    rules: { chunk_text: { sql: hidden, copy: { instead: 'derived from the chunks' } } },
    create: (db, parts) => parts.createFullText(db),
  },
)
