import { bytes, integer, partOf, text, textOrNull } from '#platform/columns.ts'
import { declareAgentTables, hidden, readable } from './table-set.ts'

/** The pages of websites. */
export const crawlTables = declareAgentTables({
  /** The pages of crawled websites that search shows: the last good copy of each. */
  crawl_pages: {
    sql: readable,
    columns: {
      source_id: partOf('sources'),
      /** Identifies the page's chunks. Derived from its address, so that reading a page twice gives one page. */
      document: text,
      /** The canonical address of the page: after redirects, or the one that it declares as its own. */
      url: text,
      /** The address under which the crawl reached it. */
      requested_url: text,
      /** The address that it was read from, after redirects, to which the validators below belong. */
      fetched_url: text,
      etag: textOrNull,
      last_modified: textOrNull,
      /** SHA-256 of its title and text, in hex. */
      content_hash: text,
      /** The embedding of its chunks. */
      embedding: text,
      /** JSON array of the addresses that it links to, used if the server reports no change. */
      links: text,
      chunks: integer,
    },
    key: ['source_id', 'document'],
    indexes: { fetched_url: ['source_id', 'fetched_url'] },
  },
  /** The progress of a crawl: the known addresses, in the order in which they were found. */
  crawl_queue: {
    sql: hidden,
    columns: {
      source_id: partOf('sources'),
      /** Position from 0, the start page. */
      position: integer,
      url: text,
      /** Number of links between the start page and this one. */
      depth: integer,
      state: text,
      /** The reason why it became no page, as a sentence for a person; null for all others. */
      reason: textOrNull,
      /** The page that it led to; null if there is none. */
      document: textOrNull,
    },
    key: ['source_id', 'position'],
    together: { url: ['source_id', 'url'] },
    indexes: { state: ['source_id', 'state', 'position'] },
  },
})

/** The texts of those pages, for new passages once the text that many pages share is known. */
export const pageTextTables = declareAgentTables({
  crawl_texts: {
    sql: hidden,
    columns: {
      source_id: partOf('sources'),
      /** The key of the page in `crawl_pages`. */
      document: text,
      /** See `page/page-content.ts` of crawls. */
      content: bytes,
      /** A mark of each block of the text; see `page/page-blocks.ts` of crawls. */
      marks: text,
      /** A digit for each block: 1 if it is left out of the passages that search shows. */
      left_out: text,
    },
    key: ['source_id', 'document'],
  },
})
