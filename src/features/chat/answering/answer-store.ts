import type { Kysely } from 'kysely'
import type { Transact } from '#platform/jobs/jobs.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { ChatEvents } from '../chat.events.ts'
import type { ChatMessage } from '../chat.schema.ts'
import type { ConversationLock } from '../conversation-lock.ts'
import { refreshActivity } from '../conversations.repository.ts'
import { deleteMessages, insertMessage, updateMessage } from '../messages.repository.ts'
import type { Question } from './question.ts'

interface Needs {
  lock: ConversationLock
  transact: Transact<ChatEvents>
}

/** Stores answers under the conversation's lock: whoever has lost it writes nothing more. */
export function createAnswerStore({ lock, transact }: Needs) {
  /** The first write of an answer replaces all that followed the question. */
  async function write(
    database: Kysely<AgentTables>,
    question: Question,
    message: ChatMessage,
  ): Promise<void> {
    if (await updateMessage(database, message)) return
    await deleteMessages(database, message.conversationId, question.userMessage.sequence)
    await insertMessage(database, message)
    await refreshActivity(database, message.conversationId)
  }

  return {
    /** Stores an answer in the making, if there is something of it, and renews the lock; false if the lock is lost. */
    checkpoint(question: Question, message: ChatMessage | undefined): Promise<boolean> {
      return question.agent.db.transaction().execute(async transaction => {
        if (!(await lock.renew(transaction, question.lock))) return false
        if (message !== undefined) await write(transaction, question, message)
        return true
      })
    },

    /** Stores the answer as it will stay and unlocks the conversation; false if the lock is lost. */
    finish(question: Question, message: ChatMessage | undefined): Promise<boolean> {
      return transact(question.agent, async (transaction, outbox) => {
        if (!(await lock.release(transaction, question.lock))) return false
        if (message === undefined) return true
        await write(transaction, question, message)
        const { id, conversationId, createdAt } = message
        await outbox.tell('message.sent', {
          agentId: question.agent.agentId,
          messageId: id,
          conversationId,
          createdAt,
        })
        return true
      })
    },
  }
}

export type AnswerStore = ReturnType<typeof createAnswerStore>
