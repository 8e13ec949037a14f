import { previewOf } from './truncate-result.ts'
import type { ToolResult, TurnEvent, WaitingCall } from './turn.ts'

/** Thrown if a turn waits for the decision on a call. */
export class TurnWaits extends Error {
  readonly waits: WaitingCall

  constructor(waits: WaitingCall) {
    super('the turn waits')
    this.waits = waits
  }
}

export function resultEvent(result: ToolResult): TurnEvent {
  const { result: value, ...others } = result
  if (others.error !== undefined)
    return { type: 'tool_result', ...others, success: false, error: others.error }
  const { toolCallId, name, coerced } = others
  return {
    type: 'tool_result',
    toolCallId,
    name,
    ...(coerced === undefined ? {} : { coerced }),
    success: true,
    result: value,
    resultPreview: previewOf(value),
  }
}
