/** Why a document could not be read, as a sentence for the person who sent it. */
import { AppError } from '#platform/errors.ts'
import { WorkerCrashed, WorkerTimeout } from '#platform/workers/worker-pool.ts'
import { UnreadableDocument } from './parsed-document.ts'

/** With `unavailable` the next attempt may succeed. */
export interface NotRead {
  kind: 'unreadable' | 'unavailable'
  reason: string
}

/** The result of reading; for threads, since an error that leaves one keeps its message alone. */
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

/** Why the thread was killed or died, as a sentence; throws errors that are not the file's fault. */
export function reasonOf(error: unknown, subject = 'This file', advice = 'Split it up.'): string {
  if (error instanceof WorkerTimeout)
    return `${subject} takes too much time to read, so it was given up. ${advice}`
  if (error instanceof WorkerCrashed)
    return `${subject} takes too much memory to read, so it was given up. ${advice}`
  // Some of it is thrown between the halves of the PDF reader, where nothing can catch it.
  if (error instanceof RangeError && error.message.includes('call stack'))
    return `${subject} is nested too deeply to be read.`
  throw error
}
