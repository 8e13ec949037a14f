import { AppError } from '#platform/errors.ts'
import { parseJson } from '#platform/exact-json.ts'
import { type WorkerPool, WorkerTimeout } from '#platform/workers/worker-pool.ts'
import type { ConversationListQuery, MessageListQuery } from '../chat.schema.ts'
import type { ConversationPage, ListTask, MessagePage } from './messages.worker.ts'

const worker = new URL('./messages.worker.ts', import.meta.url)
const timeoutMs = 5000

export type SlowLists = ReturnType<typeof createSlowLists>

/**
 * Runs lists that search messages in a thread that can be killed: searching long messages can take seconds, which would
 * delay all other requests.
 */
export function createSlowLists(workers: WorkerPool) {
  async function list(name: string, argument: object, narrower: string, signal: AbortSignal) {
    const json = await workers
      .run<string>({ file: worker, name, argument, timeoutMs, signal })
      .catch(error => {
        throw error instanceof WorkerTimeout ? tooSlow(narrower, error) : error
      })
    return parseJson(json) as unknown
  }

  return {
    messages: async (task: ListTask<MessageListQuery>, signal: AbortSignal) =>
      (await list('messages', task, 'conversationId, from and to', signal)) as MessagePage,
    conversations: async (task: ListTask<ConversationListQuery>, signal: AbortSignal) =>
      (await list('conversations', task, 'created_by, channel, from and to', signal)) as ConversationPage,
  }
}

function tooSlow(narrower: string, cause: unknown): AppError {
  const message = `This takes longer than ${timeoutMs / 1000} s. Narrow it by ${narrower}, or a shorter search.`
  return new AppError('VALIDATION_ERROR', message, { cause })
}
