import type { ChatMessage, MessageMetadata } from '../chat.schema.ts'
import type { TurnStep } from '../turn/prompt.ts'
import type { ToolCall, ToolResult, TurnEvent } from '../turn/turn.ts'
import type { TurnState } from '../turn/turn-state.ts'

interface Beginning {
  id: string
  conversationId: string
  createdAt: string
  created_by: string
  model: string
  /** The record of the turn up to the end of its process. */
  from?:
    | (Pick<TurnState, 'content' | 'toolCalls' | 'toolResults'> & { steps: readonly TurnStep[] })
    | undefined
}

/** Builds the message of a turn from the turn's events alone. */
export function createAnswerRecorder({ model, from, ...beginning }: Beginning) {
  let content = from?.content ?? ''
  const toolCalls: ToolCall[] = [...(from?.toolCalls ?? [])]
  const toolResults: ToolResult[] = [...(from?.toolResults ?? [])]
  const steps: TurnStep[] = [...(from?.steps ?? [])]
  // A turn is only recorded at its calls and their results.
  let hasResults = from !== undefined

  /** Ends the last step, which has all text and calls that came after the steps before it. */
  function closeStep(): void {
    const before = { said: 0, calls: 0 }
    for (const { said, calls } of steps) {
      before.said += said
      before.calls += calls
    }
    steps.push({ said: content.length - before.said, calls: toolCalls.length - before.calls })
  }

  function replace(text: string): void {
    const said = steps.reduce((sum, step) => sum + step.said, 0)
    // JSON in a form replaces the text of earlier steps.
    if (!text.startsWith(content.slice(0, said))) for (const step of steps) step.said = 0
    content = text
  }

  return {
    /** Returns the finished steps of the turn: each ended with the results of its calls. */
    steps: () => [...steps],

    add(event: TurnEvent): void {
      // Calls of one step come without other events between them.
      if (hasResults && event.type !== 'tool_call' && event.type !== 'tool_result') closeStep()
      hasResults = event.type === 'tool_result' || event.type === 'tool_call'
      if (event.type === 'content_delta') content += event.delta
      if (event.type === 'content_replaced') replace(event.content)
      if (event.type === 'tool_call')
        toolCalls.push({ id: event.id, name: event.name, arguments: event.arguments })
      if (event.type === 'tool_result') toolResults.push(resultOf(event))
    },

    /** Returns a text that changes with each addition; empty before the first. */
    state: () =>
      content === '' && toolCalls.length === 0
        ? ''
        : `${content.length} ${toolCalls.length} ${toolResults.length}`,

    /** Returns the current message; `metadata` describes whether it is complete. */
    message(metadata: Omit<MessageMetadata, 'model'>): ChatMessage {
      return {
        ...beginning,
        role: 'assistant',
        content,
        toolCalls: toolCalls.length === 0 ? null : [...toolCalls],
        toolResults: toolCalls.length === 0 ? null : [...toolResults],
        metadata: { model, ...metadata },
      }
    },
  }
}

export type AnswerRecorder = ReturnType<typeof createAnswerRecorder>

function resultOf(event: Extract<TurnEvent, { type: 'tool_result' }>): ToolResult {
  const { type: _type, success: _success, ...result } = event
  if (!('resultPreview' in result)) return result
  const { resultPreview: _preview, ...succeeded } = result
  return succeeded
}
