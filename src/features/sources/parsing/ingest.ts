import type { WorkerPool } from '#platform/workers/worker-pool.ts'
import { WorkerCrashed, WorkerTimeout } from '#platform/workers/worker-pool.ts'
import type { HtmlPage, MarkdownPage } from './html-page.ts'
import type { IngestedFile, StoredFile } from './ingest.worker.ts'
import { limits } from './limits.ts'

export interface Ingest {
  /**
   * Reads a stored file and cuts it into chunks. Whatever is wrong with the file is an answer, with a sentence for the
   * person who uploaded it; rejects only if the file can't be opened, `signal` aborts, or the server shuts down.
   */
  file(file: StoredFile, signal?: AbortSignal): Promise<IngestedFile>
  /** The readable part of a web page as markdown; undefined for one that takes too much time or memory to read. */
  page(page: HtmlPage, signal?: AbortSignal): Promise<MarkdownPage | undefined>
}

interface IngestOptions {
  workers: WorkerPool
  /** Milliseconds until a file or a page is given up. */
  fileMs?: number
  pageMs?: number
}

const worker = new URL('./ingest.worker.ts', import.meta.url)

/** Reads files and pages from strangers in threads that can be killed. */
export function createIngest(options: IngestOptions): Ingest {
  const { workers, fileMs = limits.fileMs, pageMs = limits.pageMs } = options

  async function file(argument: StoredFile, signal?: AbortSignal): Promise<IngestedFile> {
    const task = {
      file: worker,
      name: 'parseAndChunk',
      argument,
      timeoutMs: fileMs,
      ...(signal && { signal }),
    }
    return workers.run<IngestedFile>(task).catch(error => ({ kind: 'unreadable', reason: reasonOf(error) }))
  }

  async function page(argument: HtmlPage, signal?: AbortSignal): Promise<MarkdownPage | undefined> {
    const task = {
      file: worker,
      name: 'pageToMarkdown',
      argument,
      timeoutMs: pageMs,
      ...(signal && { signal }),
    }
    return workers.run<MarkdownPage>(task).catch(error => void reasonOf(error))
  }

  return { file, page }
}

/** Why the thread was killed, as a sentence; throws what is no fault of the file. */
function reasonOf(error: unknown): string {
  if (error instanceof WorkerTimeout)
    return 'This file takes too much time to read, so it was given up. Split it up.'
  if (error instanceof WorkerCrashed)
    return 'This file takes too much memory to read, so it was given up. Split it up.'
  throw error
}
