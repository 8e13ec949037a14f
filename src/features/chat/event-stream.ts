import type { Answering } from './answering/answering.ts'
import type { Question } from './answering/question.ts'
import type { ToolCall, ToolResult, TurnEvent } from './turn/turn.ts'

/** Everything that a client of a streamed answer is told, in this order; `error` is the last event where it comes. */
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

/** Runs the question's turn at once and yields its events; the turn ends with the signal, not with the reader. */
export function streamAnswer(
  answering: Answering,
  question: Question,
  signal: AbortSignal,
): AsyncIterable<StreamEvent> {
  const queue = createQueue<StreamEvent>()
  const { userMessage, model } = question
  const { id: userMessageId, conversationId } = userMessage
  queue.push({ type: 'message_start', userMessageId, conversationId, model })
  void answering.run(question, queue.push, signal).then(({ assistantMessage, error }) => {
    if (error !== undefined) queue.push({ type: 'error', message: error.message, code: error.code })
    else if (assistantMessage !== undefined) queue.push(completion(assistantMessage))
    queue.end()
  })
  return queue.values()
}

type AssistantMessage = NonNullable<Awaited<ReturnType<Answering['run']>>['assistantMessage']>

function completion({ id, toolCalls, toolResults }: AssistantMessage): StreamEvent {
  return { type: 'message_complete', assistantMessageId: id, toolCalls, toolResults }
}

/** Turns pushed values into pulled ones. It holds at most what one turn says, which the turn bounds. */
function createQueue<Value>() {
  const values: Value[] = []
  let wanted: ((result: IteratorResult<Value>) => void) | undefined
  let isEnded = false

  function answer(result: IteratorResult<Value>): void {
    wanted?.(result)
    wanted = undefined
  }

  const iterator: AsyncIterableIterator<Value> = {
    [Symbol.asyncIterator]: () => iterator,
    next() {
      const value = values.shift()
      if (value !== undefined) return Promise.resolve({ done: false, value })
      if (isEnded) return Promise.resolve({ done: true, value: undefined })
      return new Promise(resolve => {
        wanted = resolve
      })
    },
  }
  return {
    push(value: Value): void {
      if (wanted === undefined) values.push(value)
      else answer({ done: false, value })
    },
    end(): void {
      isEnded = true
      answer({ done: true, value: undefined })
    },
    values: () => iterator,
  }
}
