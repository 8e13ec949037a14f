/** The means of a crawl, and the findings of its visits and their settling. */
import type { Kysely } from 'kysely'
import type { LRUCache } from 'lru-cache'
import type { ChunkingOptions } from '#documents/chunking/chunking-options.ts'
import type { Outbound } from '#platform/outbound/outbound.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { CrawlConfig } from '../sources.schema.ts'
import type { NewEntry, QueuedUrl, QueueState, StoredPage, StoredText } from './crawl.repository.ts'
import type { ReadPage } from './crawl.worker.ts'
import type { CrawlThreads } from './crawl-threads.ts'
import type { FetchedPage, NoPage, WrittenPage } from './fetch-page.ts'
import type { PageIndexer } from './index-page.ts'
import type { Repeats } from './page/page-blocks.ts'
import type { HostGates } from './site/host-gates.ts'
import type { SitemapPages, SiteRules } from './site/site-rules.ts'
import type { UrlPatterns } from './site/url-patterns.ts'

/** Everything that a crawl of one source needs. */
export interface Site {
  db: Kysely<AgentTables>
  sourceId: string
  startUrl: string
  patterns: UrlPatterns
  rules: SiteRules
  /** The name of the current embedding: pages with chunks of another are read, even if unchanged. */
  embedding: string
  /** The chunking of pages. */
  chunking: ChunkingOptions
  /**
   * True if the reading thread also chunks a page and makes its built-in vectors: worthwhile for new pages.
   */
  cutsPages: boolean
  outbound: Outbound
  /** The choice of pages that a browser renders. */
  render: CrawlConfig['render']
  renderPage(url: string, signal: AbortSignal): Promise<WrittenPage>
  threads: CrawlThreads
  gates: HostGates
  /** Visits of the addresses that pages of this run name as their own. */
  namedAddresses: LRUCache<string, Promise<Visit>>
  /** Blocks that pages of this run have in common so far. */
  repeats: Repeats
  /** The traffic of this run's pages so far. */
  traffic: { bytes: number }
}

export type Visit =
  /** Another address led to this page before. */
  | { kind: 'same' }
  /** The server reports that the page has not changed. */
  | { kind: 'unchanged'; stored: StoredPage }
  | VisitedPage
  | NoPage

export interface VisitedPage {
  kind: 'page'
  /** The page's address. */
  url: string
  fetched: FetchedPage
  read: ReadPage
}

export interface Settling extends Site {
  maxPages: number
  maxDepth: number
  signal: AbortSignal
  index: PageIndexer
  /** Returns further addresses from the sitemap of the start page; undefined if the sitemap is not used. */
  sitemapPages(): Promise<SitemapPages | undefined>
}

export interface Visited {
  entry: QueuedUrl
  visit: Visit
}

export interface Settled {
  entry: QueuedUrl
  state: QueueState
  reason?: string
  document?: string
  /** The page to store with the address. */
  page?: StoredPage
  /** The text of the page's chunks. */
  text?: StoredText
  links: readonly string[]
}

export interface ReadSitemap {
  stored: StoredPage
  entry: Pick<NewEntry, 'url' | 'state' | 'reason' | 'document'>
}

export const disallowed = "The site's robots.txt does not allow it."
