import { limits } from '#documents/parsing/limits.ts'
import { reasonOf } from '#documents/parsing/not-read.ts'
import { AppError } from '#platform/errors.ts'
import type { WorkerPool } from '#platform/workers/worker-pool.ts'
import type { FetchedContent, IngestedFile, StoredFile } from './draft.worker.ts'

/**
 * Reads a stored file and stores its chunks as a draft of its source. If the file is unreadable or currently
 * not available, the result explains it in a sentence for the uploader. Rejects only if the database cannot
 * be opened, `signal` aborts, or the server shuts down.
 */
export type Ingest = (file: StoredFile, signal?: AbortSignal) => Promise<IngestedFile>

interface IngestOptions {
  workers: WorkerPool
  /** Max time for a file (ms). */
  timeoutMs?: number
}

const worker = new URL('./draft.worker.ts', import.meta.url)

/** Reads foreign files in threads that can be killed. */
export function createIngest({ workers, timeoutMs = limits.fileMs }: IngestOptions): Ingest {
  return (argument, signal) => {
    const task = { file: worker, name: 'draftFile', argument, timeoutMs, ...(signal && { signal }) }
    return workers.run<IngestedFile>(task).catch(error => ({ kind: 'unreadable', reason: reasonOf(error) }))
  }
}

/** Reads fetched content; its bytes are moved, and unusable afterwards. */
export type IngestFetched = (content: FetchedContent, signal: AbortSignal) => Promise<IngestedFile>

export function createIngestFetched({ workers, timeoutMs = limits.fileMs }: IngestOptions): IngestFetched {
  return (argument, signal) => {
    // Copying the largest ones would delay all others.
    const transfer = [argument.fetched.bytes.buffer]
    return workers
      .run<IngestedFile>({ file: worker, name: 'draftFetched', argument, transfer, timeoutMs, signal })
      .catch(error => ({ kind: 'unreadable', reason: reasonOf(error, 'This document', 'Ask for less.') }))
  }
}

/** Returns why there are no chunks; throws if the next attempt might succeed. */
export function refusalOf(read: IngestedFile): string | undefined {
  if (read.kind === 'unavailable') throw new AppError('INTERNAL_ERROR', read.reason)
  return read.kind === 'unreadable' ? read.reason : undefined
}
