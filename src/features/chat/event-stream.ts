import type { Answering } from './answering/answering.ts'
import type { Question } from './answering/question.ts'
import type { StreamEvent } from './stream-events.schema.ts'

/** Runs the question's turn and calls `tell` with each event; resolves at the end, and never rejects. */
export async function streamAnswer(
  answering: Answering,
  question: Question,
  signal: AbortSignal,
  tell: (event: StreamEvent) => void,
): Promise<void> {
  const { userMessage, model } = question
  const { id: userMessageId, conversationId } = userMessage
  tell({ type: 'message_start', userMessageId, conversationId, model })
  const { assistantMessage, error } = await answering.run(question, tell, signal)
  if (error !== undefined) tell({ type: 'error', message: error.message, code: error.code })
  else if (assistantMessage !== undefined) tell(completion(assistantMessage))
}

type AssistantMessage = NonNullable<Awaited<ReturnType<Answering['run']>>['assistantMessage']>

function completion({ id, toolCalls, toolResults }: AssistantMessage): StreamEvent {
  return { type: 'message_complete', assistantMessageId: id, toolCalls, toolResults }
}
