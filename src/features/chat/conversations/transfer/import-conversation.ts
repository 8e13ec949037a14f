import { AppError } from '#platform/errors.ts'
import { takeTurns } from '#platform/event-loop/turns.ts'
import type { Ids } from '#platform/ids.ts'
import { WorkerCrashed, type WorkerPool, WorkerTimeout } from '#platform/workers/worker-pool.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { insertRow } from '../../rows/messages.repository.ts'
import type { ConversationStarts } from '../conversation-starts.ts'
import type { readConversation } from './import-conversation.worker.ts'

const file = new URL('./import-conversation.worker.ts', import.meta.url)
const timeoutMs = 30_000

export type ImportConversation = ReturnType<typeof createConversationImport>

interface Dependencies {
  searchWorkers: WorkerPool
  starts: Pick<ConversationStarts, 'create'>
  ids: Ids
}

/** Creates a conversation from an exported one, whole or not at all. Its texts count as outsiders', also with a known author. */
export function createConversationImport({ searchWorkers, starts, ids }: Dependencies) {
  return async (agent: AgentHandle, bytes: Uint8Array, author: string, signal: AbortSignal) => {
    const task = { file, name: 'readConversation', argument: bytes, timeoutMs, signal }
    const { title, rows } = await searchWorkers
      .run<ReturnType<typeof readConversation>>(task)
      .catch((cause: unknown) => {
        if (!(cause instanceof WorkerTimeout || cause instanceof WorkerCrashed)) throw cause
        throw new AppError('VALIDATION_ERROR', 'The file is too large to be read.', { cause })
      })
    return starts.create(agent, { title, messageCount: rows.length }, author, async (transaction, id) => {
      const turns = takeTurns()
      for (const row of rows) {
        await insertRow(transaction, { ...row, id: ids.record(), conversation_id: id, created_by: author })
        if (turns.isOver()) await turns.next()
      }
    })
  }
}
