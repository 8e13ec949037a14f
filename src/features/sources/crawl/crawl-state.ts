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

/** Everything that a crawl of one source works with. */
export interface Site {
  db: Kysely<AgentTables>
  sourceId: string
  startUrl: string
  patterns: UrlPatterns
  rules: SiteRules
  /** Names the embedding in use: pages with chunks of another one must be read, even if unchanged. */
  embedding: string
  /** How pages are chunked. */
  chunking: ChunkingOptions
  /**
   * Whether the thread that reads a page also chunks it and makes its built-in vectors: worthwhile if most pages are new.
   */
  cutsPages: boolean
  outbound: Outbound
  /** Which pages a browser has to render, and how. */
  render: CrawlConfig['render']
  renderPage(url: string, signal: AbortSignal): Promise<WrittenPage>
  threads: CrawlThreads
  gates: HostGates
  /** What is at addresses that pages of this run name as their own. */
  namedAddresses: LRUCache<string, Promise<Visit>>
  /** What pages of this run have in common so far. */
  repeats: Repeats
  /** The yield of this run's pages so far. */
  traffic: { bytes: number }
}

export type Visit =
  /** Another address has led to this page before. */
  | { kind: 'same' }
  /** Its server says that it has not changed. */
  | { kind: 'unchanged'; stored: StoredPage }
  | VisitedPage
  | NoPage

export interface VisitedPage {
  kind: 'page'
  /** Its address. */
  url: string
  fetched: FetchedPage
  read: ReadPage
}

export interface Settling extends Site {
  maxPages: number
  maxDepth: number
  signal: AbortSignal
  index: PageIndexer
  /** Further addresses that the start page leads to; undefined where the site's sitemap is not wanted. */
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
  /** To be stored with it. */
  page?: StoredPage
  /** Where its chunks were made. */
  text?: StoredText
  links: readonly string[]
}

export interface ReadSitemap {
  stored: StoredPage
  entry: Pick<NewEntry, 'url' | 'state' | 'reason' | 'document'>
}

export const disallowed = "The site's robots.txt does not allow it."
