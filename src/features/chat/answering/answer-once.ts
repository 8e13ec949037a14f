import type { AgentDatabases } from '#storage/agent-databases.ts'
import type { ChatMessage } from '../chat.schema.ts'
import type { ConversationsService } from '../conversations.service.ts'
import { findMessage, findNext, isWholeAnswer, toPublic } from '../messages.repository.ts'
import type { Asker } from '../reach.ts'
import type { Answering } from './answering.ts'
import type { QuestionInput, Questions } from './questions.ts'

interface Dependencies {
  agentDatabases: AgentDatabases
  conversations: ConversationsService
  questions: Questions
  answering: Answering
}

/**
 * Answers messages whose ids their callers have chosen. Called again after an interruption it continues: what is stored is
 * neither accepted nor answered twice. If others continued the conversation before there was an answer, the message moves
 * behind theirs. Throws as `accept` and `answer` do.
 */
export function createAnswerOnce({ agentDatabases, conversations, questions, answering }: Dependencies) {
  return async (
    agentId: string,
    message: QuestionInput & { id: string },
    asker: Asker,
    client: AbortSignal,
  ): Promise<ChatMessage> => {
    const { isStored, next } = await agentDatabases.use(agentId, async handle => {
      const { db } = handle
      const stored = await findMessage(db, message.id)
      const next = stored && (await findNext(db, stored))
      const isOvertaken = next?.role === 'user'
      if (isOvertaken) await conversations.removeMessage(handle, message.id, true)
      return { isStored: stored !== undefined && !isOvertaken, next }
    })
    if (next && isWholeAnswer(next)) return toPublic(next)
    const question = await (isStored
      ? questions.acceptAgain(agentId, message.id, {}, asker)
      : questions.accept(agentId, message, asker))
    return (await answering.answer(question, client)).assistantMessage
  }
}
