import { inTransaction } from '#platform/transactions/transaction.ts'
import { comparedPages, findPage, findText, storePage, storeText } from './crawl.repository.ts'
import type { Settling } from './crawl-state.ts'

interface ComparisonBounds {
  /** Milliseconds until it is the turn of others; one page is done at least. */
  turnMs: number
  progressed(): Promise<void>
}

/**
 * Makes the passages of pages again that hold blocks of the site as a whole, or lack some that turned out to be none: when a
 * page was read, the others were not known yet. Returns false if the turn was over before all was done.
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
    // It stays as it was, if that takes too much time or memory.
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
