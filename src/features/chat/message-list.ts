import { AppError } from '#platform/errors.ts'
import { parseJson } from '#platform/exact-json.ts'
import type { WorkerPool } from '#platform/workers/worker-pool.ts'
import { WorkerTimeout } from '#platform/workers/worker-pool.ts'
import type { ListTask, MessagePage } from './messages.worker.ts'

const worker = new URL('./messages.worker.ts', import.meta.url)
const timeoutMs = 5000

export type ListMessages = ReturnType<typeof createMessageList>

/**
 * The generic list of messages, in a thread that can be killed: searching long messages for a text may take seconds, for
 * which no other request should wait.
 */
export function createMessageList(workers: WorkerPool) {
  return async (argument: ListTask, signal: AbortSignal) => {
    const json = await workers
      .run<string>({ file: worker, name: 'list', argument, timeoutMs, signal })
      .catch(error => {
        throw error instanceof WorkerTimeout ? tooSlow(error) : error
      })
    return parseJson(json) as MessagePage
  }
}

function tooSlow(cause: unknown): AppError {
  const message = `This takes longer than ${timeoutMs / 1000} s. Narrow it by conversationId, from and to, or a shorter search.`
  return new AppError('VALIDATION_ERROR', message, { cause })
}
