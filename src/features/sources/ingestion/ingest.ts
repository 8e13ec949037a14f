import { limits } from '#documents/parsing/limits.ts'
import { reasonOf } from '#documents/parsing/not-read.ts'
import { AppError } from '#platform/errors.ts'
import type { WorkerPool } from '#platform/workers/worker-pool.ts'
import type { FetchedContent, IngestedFile, StoredFile } from './draft.worker.ts'

/**
 * Reads a stored file and stores its chunks as a draft of its source. If the file can't be read, or is not available at the
 * moment, the result says so in a sentence for the person who uploaded it. Rejects only if the database can't be opened,
 * `signal` aborts, or the server shuts down.
 */
export type Ingest = (file: StoredFile, signal?: AbortSignal) => Promise<IngestedFile>

interface IngestOptions {
  workers: WorkerPool
  /** Milliseconds until a file is given up. */
  timeoutMs?: number
}

const worker = new URL('./draft.worker.ts', import.meta.url)

/** Reads files from strangers in threads that can be killed. */
export function createIngest({ workers, timeoutMs = limits.fileMs }: IngestOptions): Ingest {
  return (argument, signal) => {
    const task = { file: worker, name: 'draftFile', argument, timeoutMs, ...(signal && { signal }) }
    return workers.run<IngestedFile>(task).catch(error => ({ kind: 'unreadable', reason: reasonOf(error) }))
  }
}

/** The same for content that was fetched; its bytes are moved, and gone afterwards. */
export type IngestFetched = (content: FetchedContent, signal: AbortSignal) => Promise<IngestedFile>

export function createIngestFetched({ workers, timeoutMs = limits.fileMs }: IngestOptions): IngestFetched {
  return (argument, signal) => {
    // Copying the largest ones would hold up all others.
    const transfer = [argument.fetched.bytes.buffer]
    return workers
      .run<IngestedFile>({ file: worker, name: 'draftFetched', argument, transfer, timeoutMs, signal })
      .catch(error => ({ kind: 'unreadable', reason: reasonOf(error, 'This document', 'Ask for less.') }))
  }
}

/** Why there are no chunks; throws if the next attempt may succeed. */
export function refusalOf(read: IngestedFile): string | undefined {
  if (read.kind === 'unavailable') throw new AppError('INTERNAL_ERROR', read.reason)
  return read.kind === 'unreadable' ? read.reason : undefined
}
