import { inTransaction } from '#platform/transactions/transaction.ts'
import { comparedPages, findPage, findText, storePage, storeText } from './crawl.repository.ts'
import type { Settling } from './crawl-state.ts'

interface ComparisonBounds {
  /** Max milliseconds before the turn of others; at least one page is done. */
  turnMs: number
  progressed(): Promise<void>
}

/**
 * Chunks pages again that contain blocks of the whole site, or lack blocks that turned out not to be: when a
 * page was read, later ones were unknown. Returns false if the turn ended before all was done.
 */
export async function leaveOutRepeated(
  site: Settling,
  { turnMs, progressed }: ComparisonBounds,
): Promise<boolean> {
  const { db, sourceId, threads, index, embedding, signal } = site
  const turnEnd = performance.now() + turnMs
  const changes = await threads.comparePages(await comparedPages(db, sourceId), signal)
  for (const [at, { document, leftOut }] of changes.entries()) {
    if (at > 0 && performance.now() > turnEnd) return false
    const [page, text] = [await findPage(db, sourceId, { document }), await findText(db, sourceId, document)]
    if (page === undefined || text === undefined) continue
    const { content } = text
    const cut = { document, content, leftOut, hash: page.content_hash, chunks: undefined }
    const chunks = await index.replace(cut)
    // Above the limits of time or memory, the page stays unchanged.
    if (chunks === undefined) continue
    await inTransaction(db, async transaction => {
      await index.requireRun(transaction)
      await storePage(transaction, sourceId, { ...page, chunks, embedding })
      await storeText(transaction, sourceId, { ...text, left_out: leftOut })
    })
    await progressed()
  }
  return true
}
