/** The crawl itself: breadth first, in the order of the queue, with a few pages under way at a time. */
import type { QueuedUrl } from './crawl.repository.ts'
import { countQueue, nextInQueue } from './crawl.repository.ts'
import { crawlLimits } from './crawl-limits.ts'
import type { Settling } from './settle-page.ts'
import { settlePage } from './settle-page.ts'
import type { Visit } from './visit-page.ts'
import { visitPage } from './visit-page.ts'

export type CrawlEnd =
  /** `isWhole`: all that the bounds allow has been looked at. */
  { kind: 'done'; isWhole: boolean } | { kind: 'no start'; reason: string }

/**
 * Goes on with the queue until it is empty or the bounds are reached. Pages are fetched some at a time but settled one by
 * one, in order: so the pages found are the same whichever server answers first, and wherever a crash has interrupted it.
 *
 * @param isOver tells whether the crawl has had its time or its share of bytes.
 */
export async function runCrawl(site: Settling, isOver: () => boolean): Promise<CrawlEnd> {
  const stop = new AbortController()
  const signal = AbortSignal.any([site.signal, stop.signal])
  const underWay = new Map<number, Promise<Visit>>()
  try {
    for (;;) {
      signal.throwIfAborted()
      const entries = await nextEntries(site)
      const [first] = entries
      if (first === undefined) return { kind: 'done', isWhole: true }
      if (isOver()) return { kind: 'done', isWhole: false }
      for (const entry of entries)
        if (!underWay.has(entry.position)) underWay.set(entry.position, begin(site, entry, signal))
      const visit = await (underWay.get(first.position) ?? begin(site, first, signal))
      const { state, reason = '' } = await settlePage({ ...site, signal }, first, visit)
      underWay.delete(first.position)
      const isRead = visit.kind === 'page' || visit.kind === 'unchanged'
      if (first.position === 0 && !isRead) return { kind: 'no start', reason: reason || state }
    }
  } finally {
    stop.abort()
    await Promise.allSettled(underWay.values())
  }
}

/** Those that may be under way at a time: never more than there is room for, so that no page is asked for in vain. */
async function nextEntries({ db, sourceId, maxPages }: Settling): Promise<QueuedUrl[]> {
  const { pages } = await countQueue(db, sourceId)
  const room = Math.min(crawlLimits.requestsPerHost, maxPages - pages)
  return room > 0 ? await nextInQueue(db, sourceId, room) : []
}

function begin(site: Settling, entry: QueuedUrl, signal: AbortSignal): Promise<Visit> {
  const visit = visitPage(site, entry, signal)
  // Awaited when it is its turn.
  visit.catch(() => {})
  return visit
}
