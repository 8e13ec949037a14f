import { defineAgentTables, hidden, readable } from './table-set.ts'

/** The pages of websites. */
export interface CrawlTables {
  crawl_pages: CrawlPagesTable
  crawl_queue: CrawlQueueTable
}

/** The pages of crawled websites that search shows: the last good copy of each. */
interface CrawlPagesTable {
  source_id: string
  /** Identifies the page's chunks. Derived from its address, so that reading a page twice gives one page. */
  document: string
  /** The canonical address of the page: after redirects, or the one that it declares as its own. */
  url: string
  /** The address under which the crawl reached it. */
  requested_url: string
  /** Where it was read, after redirects: the validators below belong to this address. */
  fetched_url: string
  etag: string | null
  last_modified: string | null
  /** SHA-256 of its title and text, in hex. */
  content_hash: string
  /** The embedding of its chunks. */
  embedding: string
  /** JSON array of the addresses that it links to, for when the server says that it has not changed. */
  links: string
  chunks: number
}

/** The progress of a crawl: the known addresses, in the order in which they were found. */
interface CrawlQueueTable {
  source_id: string
  /** From 0, the start page. */
  position: number
  url: string
  /** Number of links between the start page and this one. */
  depth: number
  state: string
  /** Why it did not become a page, as a sentence for a person; null for all others. */
  reason: string | null
  /** The page that it led to; null if there is none. */
  document: string | null
}

export const crawlTables = defineAgentTables<CrawlTables>({
  rules: {
    crawl_pages: { sql: readable, copy: { key: ['source_id', 'document'] } },
    crawl_queue: { sql: hidden, copy: { key: ['source_id', 'position'] } },
  },
  async create(db, parts) {
    await db.schema
      .createTable('crawl_pages')
      .addColumn('source_id', parts.textType, column =>
        column.notNull().references('sources.id').onDelete('cascade'),
      )
      .addColumn('document', parts.textType, column => column.notNull())
      .addColumn('url', parts.textType, column => column.notNull())
      .addColumn('requested_url', parts.textType, column => column.notNull())
      .addColumn('fetched_url', parts.textType, column => column.notNull())
      .addColumn('etag', parts.textType)
      .addColumn('last_modified', parts.textType)
      .addColumn('content_hash', parts.textType, column => column.notNull())
      .addColumn('embedding', parts.textType, column => column.notNull())
      .addColumn('links', parts.textType, column => column.notNull())
      .addColumn('chunks', 'integer', column => column.notNull())
      .addPrimaryKeyConstraint('crawl_pages_key', ['source_id', 'document'])
      .execute()
    await db.schema
      .createIndex('crawl_pages_fetched_url')
      .on('crawl_pages')
      .columns(['source_id', 'fetched_url'])
      .execute()
    await db.schema
      .createTable('crawl_queue')
      .addColumn('source_id', parts.textType, column =>
        column.notNull().references('sources.id').onDelete('cascade'),
      )
      .addColumn('position', 'integer', column => column.notNull())
      .addColumn('url', parts.textType, column => column.notNull())
      .addColumn('depth', 'integer', column => column.notNull())
      .addColumn('state', parts.textType, column => column.notNull())
      .addColumn('reason', parts.textType)
      .addColumn('document', parts.textType)
      .addPrimaryKeyConstraint('crawl_queue_key', ['source_id', 'position'])
      .addUniqueConstraint('crawl_queue_url', ['source_id', 'url'])
      .execute()
    await db.schema
      .createIndex('crawl_queue_state')
      .on('crawl_queue')
      .columns(['source_id', 'state', 'position'])
      .execute()
  },
})
