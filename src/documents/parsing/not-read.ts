/** The reason why a document could not be read, as a sentence for its sender. */
import { AppError } from '#platform/errors.ts'
import { WorkerCrashed, WorkerTimeout } from '#platform/workers/worker-pool.ts'
import { UnreadableDocument } from './parsed-document.ts'

/** A failed reading; after `unavailable` the next attempt can succeed. */
export interface NotRead {
  kind: 'unreadable' | 'unavailable'
  reason: string
}

/** Returns the result of reading, for threads: an error that leaves one only keeps its message. */
export async function readOrReason<Result>(
  read: () => Promise<Result>,
): Promise<{ kind: 'read'; result: Result } | NotRead> {
  try {
    return { kind: 'read', result: await read() }
  } catch (error) {
    if (error instanceof UnreadableDocument) return { kind: 'unreadable', reason: error.message }
    if (error instanceof AppError)
      return { kind: error.fault === 'user' ? 'unreadable' : 'unavailable', reason: error.message }
    throw error
  }
}

/** Returns the reason of the thread's death, as a sentence; throws errors that are not the file's fault. */
export function reasonOf(error: unknown, subject = 'This file', advice = 'Split it up.'): string {
  if (error instanceof WorkerTimeout)
    return `${subject} takes too much time to read, so it was given up. ${advice}`
  if (error instanceof WorkerCrashed)
    return `${subject} takes too much memory to read, so it was given up. ${advice}`
  // Some errors are thrown between the halves of the PDF reader, where nothing can catch them.
  if (error instanceof RangeError && error.message.includes('call stack'))
    return `${subject} is nested too deeply to be read.`
  throw error
}
