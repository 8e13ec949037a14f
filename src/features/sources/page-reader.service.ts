import type { FetchedPage, PageMarkdown } from '#documents/parsing/html/page.worker.ts'
import { limits } from '#documents/parsing/limits.ts'
import { AppError } from '#platform/errors.ts'
import { WorkerCrashed, type WorkerPool, WorkerTimeout } from '#platform/workers/worker-pool.ts'

const worker = new URL('../../documents/parsing/html/page.worker.ts', import.meta.url)

/** Converts the readable part of a web page to markdown; text other than HTML stays unchanged. */
export type PageReader = (page: FetchedPage, signal: AbortSignal) => Promise<PageMarkdown>

/**
 * Reads foreign pages in threads that can be killed. Throws OUTBOUND_FAILED after that, or if the page is not
 * text.
 */
export function createPageReader(workers: WorkerPool, timeoutMs: number = limits.pageMs): PageReader {
  return async (argument, signal) => {
    const page = await workers
      .run<PageMarkdown | undefined>({ file: worker, name: 'pageToMarkdown', argument, signal, timeoutMs })
      .catch(error => {
        if (!(error instanceof WorkerTimeout || error instanceof WorkerCrashed)) throw error
        throw new AppError('OUTBOUND_FAILED', 'This page takes too much time or memory to read.')
      })
    if (page === undefined)
      throw new AppError('OUTBOUND_FAILED', 'This page is not text: it holds binary data.')
    return page
  }
}
