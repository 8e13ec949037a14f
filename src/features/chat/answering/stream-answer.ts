import type { CitedPassage } from '#models/language-model/passages.ts'
import type { ChatMessage } from '../chat.schema.ts'
import type { StreamEvent, TurnEvent } from '../stream-events.schema.ts'
import type { Answering } from './answering.ts'
import type { Question } from './question.ts'

/** A line that programs ignore. */
export type Comment = string

/** Answers a question, and emits each event of the answer. The turn ends when `client` aborts. Never rejects. */
export async function streamAnswer(
  answering: Pick<Answering, 'run'>,
  question: Question,
  client: AbortSignal,
  emit: (event: StreamEvent | Comment) => void,
): Promise<void> {
  let isStarted = false
  const start = (passages: CitedPassage[]) => {
    if (isStarted) return
    isStarted = true
    emit(startOf(question, passages))
  }
  const pass = (event: TurnEvent) => {
    if (event.type === 'retrieved') start(event.passages)
    else emit(event.type === 'reading' ? `reading ${event.name}` : event)
  }
  const { assistantMessage, error } = await answering.run(question, pass, client)
  start([])
  if (error !== undefined) emit({ type: 'error', message: error.message, code: error.code })
  else if (assistantMessage !== undefined) emit(completion(assistantMessage))
}

export function startOf(
  { userMessage, model, turnId, evictedConversationId }: Question,
  passages: CitedPassage[],
): StreamEvent {
  const { id: userMessageId, conversationId } = userMessage
  return {
    type: 'message_start',
    userMessageId,
    conversationId,
    model,
    turnId,
    ...(evictedConversationId !== undefined && { evictedConversationId }),
    ...(passages.length > 0 && { passages }),
  }
}

export function completion({ id, toolCalls, toolResults }: ChatMessage): StreamEvent {
  return { type: 'message_complete', assistantMessageId: id, toolCalls, toolResults }
}
