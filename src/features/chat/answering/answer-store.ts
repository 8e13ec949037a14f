import type { Kysely } from 'kysely'
import type { AppError } from '#platform/errors.ts'
import type { Outbox, Transact } from '#platform/jobs/jobs.ts'
import type { AgentTables } from '#storage/tables.ts'
import { type ChatEvents, originOf } from '../chat.events.ts'
import type { ChatMessage } from '../chat.schema.ts'
import type { ConversationLock } from '../conversations/conversation-lock.ts'
import { removeFilesOf } from '../conversations/unused-files.ts'
import { putApprovals, settleApprovals } from '../rows/approvals.repository.ts'
import type { ConversationEnd } from '../rows/conversation-lock.repository.ts'
import { deleteFollowing, type PutMessage, putMessage } from '../rows/messages.repository.ts'
import type { Question } from './question.ts'

interface Dependencies {
  lock: ConversationLock
  transact: Transact<ChatEvents>
}

/** Stores answers under the conversation's lock: a process that has lost the lock can no longer write. */
export function createAnswerStore({ lock, transact }: Dependencies) {
  /** Stores an answer, which replaces everything after its question. */
  async function write(
    database: Kysely<AgentTables>,
    outbox: Pick<Outbox, 'add'>,
    { isNew, userMessage }: Question,
    message: PutMessage,
  ): Promise<void> {
    if (!isNew) {
      await deleteFollowing(database, userMessage, message.id)
      await removeFilesOf(database, outbox, [message.conversationId])
    }
    await putMessage(database, message)
    await putApprovals(database, message)
  }

  /** Returns the fields of the conversation's row after an answer that ends it. */
  function endOf(
    { userMessage: { sequence } }: Question,
    message: ChatMessage | undefined,
  ): ConversationEnd | undefined {
    return message && { questionSequence: sequence, lastMessageAt: message.createdAt }
  }

  return {
    /** Interval at which the lock must be renewed, in milliseconds. */
    renewalMs: lock.renewalMs,

    /** Stores an unfinished answer, if there is one, and renews the lock; returns false if the lock is lost. */
    checkpoint(question: Question, message: ChatMessage | undefined): Promise<boolean> {
      return transact(question.agent, async (transaction, outbox) => {
        if (!(await lock.renew(transaction, question.lock, endOf(question, message)))) return false
        if (message !== undefined) await write(transaction, outbox, question, message)
        return true
      })
    },

    /** Stores the unfinished answer and parks the conversation. Returns false if the lock is lost. */
    park(
      question: Question,
      message: PutMessage,
      parked: Parameters<NonNullable<Question['park']>>[2],
    ): Promise<boolean> {
      return transact(question.agent, async (transaction, outbox) => {
        if (!(await lock.park(transaction, question.lock, endOf(question, message)))) return false
        await write(transaction, outbox, question, message)
        await question.park?.(transaction, outbox, parked)
        return true
      })
    },

    /** Stores the final answer and unlocks the conversation; returns false if the lock is lost. */
    finish(question: Question, message: PutMessage | undefined, error?: AppError): Promise<boolean> {
      return transact(question.agent, async (transaction, outbox) => {
        if (!(await lock.release(transaction, question.lock, endOf(question, message)))) return false
        await question.recording?.end(transaction, outbox, { assistantMessage: message, error })
        if (message === undefined) return true
        await write(transaction, outbox, question, message)
        if (question.recording) await settleApprovals(transaction, message.id, message.createdAt)
        const { id, conversationId, createdAt } = message
        await outbox.emit('message.sent', {
          agent_id: question.agent.agentId,
          message_id: id,
          conversation_id: conversationId,
          created_at: createdAt,
          ...originOf(question.asker),
        })
        return true
      })
    },
  }
}

export type AnswerStore = ReturnType<typeof createAnswerStore>
