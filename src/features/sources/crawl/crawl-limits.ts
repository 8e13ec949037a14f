/** Limits on what a website may cost. Sizes are bytes, times milliseconds. */
export const crawlLimits = {
  /** Requests to one host at a time, from all crawls together. */
  requestsPerHost: 4,
  /** Addresses of a crawl that are looked at at a time: as many as keep the threads busy while others are written down. */
  visits: 8,
  /** How many visits may wait, after their end, for a slow one before them; and the bytes of their pages. */
  visitsAhead: 50,
  bytesAhead: 40 * 1024 * 1024,
  /** New pages that are written at a time. */
  pagesPerWrite: 4,
  pageBytes: 5 * 1024 * 1024,
  /** For one request, from the question to the end of the body. */
  requestMs: 20_000,
  redirects: 5,
  /** Characters of an address; longer ones are not followed. */
  addressLength: 2_000,
  /** How many URLs one page or sitemap may bring, and their characters together: they pass through the main thread. */
  linksPerPage: 5_000,
  linkCharactersPerPage: 500_000,
  robotsBytes: 512 * 1024,
  /** The longest wait that robots.txt and Retry-After may demand; a longer one ends the page. */
  crawlDelayMs: 30_000,
  retryAfterMs: 30_000,
  /** Pauses before a page that failed is requested again. */
  retryPausesMs: [500, 2_000],
  sitemaps: 10,
  sitemapBytes: 10 * 1024 * 1024,
  /** Until the text of a page that is still being read is given up. */
  readMs: 15_000,
  /** Tasks of all crawls that read in threads, or are next: one more than there are threads, and than one agent may have. */
  threadTasks: 3,
  threadTasksPerAgent: 2,
  /** Beside these as many write, of which one agent has one: writing makes room for more to be read. */
  writesPerAgent: 1,
  /** Failed pages that a source lists. */
  failuresShown: 100,
  /** How long a crawl works until it lets other jobs go first. */
  turnMs: 60_000,
  /** A whole crawl, without the time in which nothing works on it; after that the rest of the site is left. */
  crawlMs: (maxPages: number) => 60 * 60_000 + maxPages * 6_000,
  /** URLs that are tried: dead links and files count as no page, and a site can invent them without end. */
  addresses: (maxPages: number) => 100 + maxPages * 10,
} as const
