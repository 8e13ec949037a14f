import { type Clock, timestamp } from '#platform/clock.ts'
import { invalid, notFound } from '#platform/errors.ts'
import type { Transact } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { ChatEvents } from '../chat.events.ts'
import type { ChatMessage, FeedbackChange } from '../chat.schema.ts'
import type { Asker } from '../reach.ts'
import { findMessage, putFeedback, toPublic } from '../rows/messages.repository.ts'

/** Stores people's feedback on answers. */
export function createFeedback({ transact, clock }: { transact: Transact<ChatEvents>; clock: Clock }) {
  /** Returns the answer with the feedback, which replaces an earlier one. Works also while the conversation is locked. */
  return (
    agent: AgentHandle,
    messageId: string,
    { rating, comment }: FeedbackChange,
    { author, reach }: Pick<Asker, 'author' | 'reach'>,
  ): Promise<ChatMessage> => {
    if (rating === null && comment !== undefined) throw invalid('comment', 'needs a rating')
    return transact(agent, async (transaction, outbox) => {
      const found = await findMessage(transaction, messageId, reach)
      if (found === undefined) throw notFound('Message')
      const { feedback: _former, ...message } = toPublic(found)
      if (message.role !== 'assistant') throw invalid('messageId', 'must be that of an answer')
      const createdAt = timestamp(clock)
      const said = { ...(comment !== undefined && { comment }), created_by: author, createdAt }
      const feedback = rating === null ? undefined : { rating, ...said }
      await putFeedback(transaction, messageId, feedback)
      await outbox.emit('message.feedback', {
        agent_id: agent.agentId,
        message_id: messageId,
        conversation_id: message.conversationId,
        rating,
        created_by: author,
        created_at: createdAt,
      })
      return { ...message, ...(feedback && { feedback }) }
    })
  }
}

export type RateMessage = ReturnType<typeof createFeedback>
