import type { ChatMessage } from '../chat.schema.ts'
import type { StreamEvent } from '../stream-events.schema.ts'
import type { Answering } from './answering.ts'
import type { Question } from './question.ts'

/** Answers a question, and emits each event of the answer. The turn ends when `client` aborts. Never rejects. */
export async function streamAnswer(
  answering: Pick<Answering, 'run'>,
  question: Question,
  client: AbortSignal,
  emit: (event: StreamEvent) => void,
): Promise<void> {
  const { userMessage, model, evictedConversationId } = question
  const { id: userMessageId, conversationId } = userMessage
  emit({
    ...{ type: 'message_start', userMessageId, conversationId, model },
    ...(evictedConversationId !== undefined && { evictedConversationId }),
  })
  const { assistantMessage, error } = await answering.run(question, emit, client)
  if (error !== undefined) emit({ type: 'error', message: error.message, code: error.code })
  else if (assistantMessage !== undefined) emit(completion(assistantMessage))
}

function completion({ id, toolCalls, toolResults }: ChatMessage): StreamEvent {
  return { type: 'message_complete', assistantMessageId: id, toolCalls, toolResults }
}
