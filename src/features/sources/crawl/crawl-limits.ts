/** Limits on the cost of a website. Sizes are bytes, times milliseconds. */
export const crawlLimits = {
  /** Max concurrent requests to one host, from all crawls together. */
  requestsPerHost: 4,
  /** Max concurrent visits of a crawl: enough to keep the threads busy while others are stored. */
  visits: 8,
  /** Max finished visits that wait for a slow earlier one; and the bytes of their pages. */
  visitsAhead: 50,
  bytesAhead: 40 * 1024 * 1024,
  /** Max new pages that are stored together. */
  pagesPerWrite: 4,
  pageBytes: 5 * 1024 * 1024,
  /** Max time of one request, from its start to the end of the body. */
  requestMs: 20_000,
  redirects: 5,
  /** Max characters of an address; longer ones are not followed. */
  addressLength: 2_000,
  /** Max URLs from one page or sitemap, and max total characters: they go through the main thread. */
  linksPerPage: 5_000,
  linkCharactersPerPage: 500_000,
  robotsBytes: 512 * 1024,
  /** Max wait that robots.txt and Retry-After can demand; a longer one ends the page. */
  crawlDelayMs: 30_000,
  retryAfterMs: 30_000,
  /** Pauses before retries of a failed page. */
  retryPausesMs: [500, 2_000],
  sitemaps: 10,
  sitemapBytes: 10 * 1024 * 1024,
  /** Max time to read a page's text. */
  readMs: 15_000,
  /** Max tasks of all crawls in the threads: one more than the threads, and than one agent can have. */
  threadTasks: 3,
  threadTasksPerAgent: 2,
  /** Max writing tasks per agent; `threadTasks` write beside reading, which makes room for more. */
  writesPerAgent: 1,
  /** Max failed pages that a source lists. */
  failuresShown: 100,
  /** Max time that a crawl works before other jobs. */
  turnMs: 60_000,
  /** Max time of a crawl, without idle time; after it, the rest of the site is left out. */
  crawlMs: (maxPages: number) => 60 * 60_000 + maxPages * 6_000,
  /** Max URLs to try: dead links and files don't count as pages, and a site can invent any number. */
  addresses: (maxPages: number) => 100 + maxPages * 10,
} as const
