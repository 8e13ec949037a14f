import type { Answering } from './answering/answering.ts'
import type { Question } from './answering/question.ts'
import type { ToolCall, ToolResult, TurnEvent } from './turn/turn.ts'

/** Everything that a client of a streamed answer receives, in this order; if `error` comes, it is the last event. */
export type StreamEvent =
  | { type: 'message_start'; userMessageId: string; conversationId: string; model: string }
  | TurnEvent
  | {
      type: 'message_complete'
      assistantMessageId: string
      toolCalls: ToolCall[] | null
      toolResults: ToolResult[] | null
    }
  | { type: 'error'; message: string; code: string }

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
