import type { AgentDatabases } from '#storage/agent-databases.ts'
import type { ChatMessage } from '../chat.schema.ts'
import type { ConversationsService } from '../conversations.service.ts'
import { findMessage, findNext, isWholeAnswer, toPublic } from '../messages.repository.ts'
import type { Answering } from './answering.ts'
import type { AskedMessage, Questions } from './questions.ts'
import type { Asker } from './turn-planner.ts'

interface Dependencies {
  agentDatabases: AgentDatabases
  conversations: ConversationsService
  questions: Questions
  answering: Answering
}

/**
 * Answers messages whose ids their callers have chosen. Called again after an interruption it continues: what is stored is
 * neither asked nor answered twice. If others continued the conversation before there was an answer, the message moves
 * behind theirs. Throws as `ask` and `answer` do.
 */
export function createAnswerOnce({ agentDatabases, conversations, questions, answering }: Dependencies) {
  return async (
    agentId: string,
    message: AskedMessage & { id: string },
    asker: Asker,
    client: AbortSignal,
  ): Promise<ChatMessage> => {
    const { isAsked, next } = await agentDatabases.use(agentId, async ({ db }) => {
      const asked = await findMessage(db, message.id)
      const next = asked && (await findNext(db, asked))
      const isOvertaken = next?.role === 'user'
      if (isOvertaken) await conversations.removeMessage(db, message.id)
      return { isAsked: asked !== undefined && !isOvertaken, next }
    })
    if (next && isWholeAnswer(next)) return toPublic(next)
    const question = await (isAsked
      ? questions.askAgain(agentId, message.id, {}, asker)
      : questions.ask(agentId, message, asker))
    return (await answering.answer(question, client)).assistantMessage
  }
}
