/** The crawl itself: breadth first, in the order of the queue, with several concurrent visits. */
import { countQueue, nextInQueue, type QueuedUrl, startProblem } from './crawl.repository.ts'
import { crawlLimits } from './crawl-limits.ts'
import type { Settling, Visit, Visited } from './crawl-state.ts'
import { settlePages } from './settle-pages.ts'
import { visitPage } from './visit-page.ts'

export type CrawlEnd =
  /** `isWhole`: everything within the limits was visited. */
  | { kind: 'done'; isWhole: boolean }
  /** More addresses remain, but other jobs have their turn. */
  | { kind: 'turn over' }
  | { kind: 'no start'; reason: string }

interface Bounds {
  /** Returns true if the crawl has used up its time or its bytes. */
  isOver(): boolean
  /** Max milliseconds before the turn of others: begun visits are settled, and no more are begun. */
  turnMs: number
  /** Called after pages were settled. */
  progressed(): Promise<void>
}

/**
 * Works through the queue until it is empty or a limit is reached. Several pages are fetched at a time but
 * settled in order, so the result is independent of the servers' speed and of crashes of the crawl.
 */
export async function runCrawl(site: Settling, { isOver, turnMs, progressed }: Bounds): Promise<CrawlEnd> {
  const turnEnd = performance.now() + turnMs
  let hasBegun = false
  const stop = new AbortController()
  const signal = AbortSignal.any([site.signal, stop.signal])
  const underWay: UnderWay = new Map()
  try {
    for (;;) {
      signal.throwIfAborted()
      // Read from the queue because an earlier run might have found it and died.
      const reason = await startProblem(site.db, site.sourceId)
      if (reason !== undefined) return { kind: 'no start', reason }
      const entries = await nextEntries(site)
      const [first] = entries
      if (first === undefined) return { kind: 'done', isWhole: true }
      if (isOver()) return { kind: 'done', isWhole: false }
      // Each turn visits at least once, to make progress.
      if (!hasBegun || performance.now() < turnEnd) beginNext(site, entries, underWay, signal)
      hasBegun = true
      if (!underWay.has(first.position)) return { kind: 'turn over' }
      await untilMoreCanBeDone(first, underWay)
      const visited = visitedFirst(entries, underWay)
      if (visited.length === 0) continue
      const settled = await settlePages({ ...site, signal }, visited)
      for (const { entry } of visited.slice(0, settled)) underWay.delete(entry.position)
      await progressed()
    }
  } finally {
    stop.abort()
    await Promise.allSettled([...underWay.values()].map(({ ending }) => ending))
  }
}

/** Visits by the position of their URL, with the results of those that have ended. */
type UnderWay = Map<number, Begun>

interface Begun {
  ending: Promise<Visit>
  hasEnded: boolean
  visit?: Visit
}

/** Returns the next entries, including those in progress or waiting: at most as many as there is room for. */
async function nextEntries({ db, sourceId, maxPages, rules }: Settling): Promise<QueuedUrl[]> {
  const { pages } = await countQueue(db, sourceId)
  // If requests wait for each other, more of them would only delay the end of a turn.
  const ahead = rules.pauseMs > 0 ? crawlLimits.requestsPerHost : crawlLimits.visitsAhead
  const room = Math.min(ahead, maxPages - pages)
  return room > 0 ? await nextInQueue(db, sourceId, room) : []
}

/** Begins a few visits, up to the limit of pages that wait for a slow one. */
function beginNext(
  site: Settling,
  entries: readonly QueuedUrl[],
  underWay: UnderWay,
  signal: AbortSignal,
): void {
  const begun = [...underWay.values()]
  const free = crawlLimits.visits - begun.filter(({ hasEnded }) => !hasEnded).length
  if (begun.reduce((bytes, { visit }) => bytes + bytesOf(visit), 0) > crawlLimits.bytesAhead) return
  const next = entries.filter(({ position }) => !underWay.has(position)).slice(0, free)
  for (const entry of next) underWay.set(entry.position, begin(visitPage(site, entry, signal)))
}

function begin(ending: Promise<Visit>): Begun {
  const begun: Begun = { ending, hasEnded: false }
  ending.then(
    visit => Object.assign(begun, { visit, hasEnded: true }),
    // The error is thrown when the visit is settled.
    () => Object.assign(begun, { hasEnded: true }),
  )
  return begun
}

/** Returns the bytes of the read content: the body itself was moved to a thread. */
function bytesOf(visit: Visit | undefined): number {
  return visit?.kind === 'page' ? visit.read.content.length : 0
}

/** Waits for the first visit, or for half of the others, which makes room for more during slow ones. */
async function untilMoreCanBeDone({ position }: QueuedUrl, underWay: UnderWay): Promise<void> {
  const first = underWay.get(position)
  const others = [...underWay.values()].filter(begun => begun !== first && !begun.hasEnded)
  const endings = others.map(({ ending }) => ending)
  await Promise.race([first?.ending, ...(endings.length > 0 ? [untilHalfHaveEnded(endings)] : [])])
}

function untilHalfHaveEnded(endings: readonly Promise<unknown>[]): Promise<void> {
  return new Promise(resolve => {
    let ended = 0
    const count = () => {
      ended += 1
      if (ended >= endings.length / 2) resolve()
    }
    for (const ending of endings) ending.then(count, count)
  })
}

/** Returns the first visit and its direct successors, as far as they have ended. */
function visitedFirst(entries: readonly QueuedUrl[], underWay: UnderWay): Visited[] {
  const visited: Visited[] = []
  for (const entry of entries) {
    const visit = underWay.get(entry.position)?.visit
    if (visit === undefined) break
    visited.push({ entry, visit })
  }
  return visited
}
