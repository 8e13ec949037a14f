interface StreamEvent {
  type: string
  moment: string
  /** Fields beside `type` that are always there. */
  fields: readonly string[]
  /** Fields that depend on the outcome. */
  conditionalFields?: readonly string[]
}

/** What a chat answer sends as server-sent events, each as `event: message` and a line of JSON data. */
export const streamEvents = [
  { type: 'message_start', moment: 'before anything else', fields: ['userMessageId', 'model'] },
  { type: 'thinking', moment: 'at the head of every loop iteration, counted from 1', fields: ['iteration'] },
  { type: 'tool_call', moment: 'when a tool is about to run', fields: ['id', 'name', 'arguments'] },
  {
    type: 'tool_result',
    moment: 'when a tool has ended',
    fields: ['toolCallId', 'name', 'success'],
    // The first two after a success, the last after a failure.
    conditionalFields: ['result', 'resultPreview', 'error'],
  },
  {
    type: 'content_delta',
    moment: 'for every piece of the answer, counted from 0',
    fields: ['delta', 'index'],
  },
  {
    type: 'message_complete',
    moment: 'as the last event of a turn that succeeded',
    fields: ['assistantMessageId', 'toolCalls', 'toolResults'],
  },
  { type: 'error', moment: 'as the last event of a turn that failed', fields: ['message'] },
] as const satisfies readonly StreamEvent[]

export type StreamEventType = (typeof streamEvents)[number]['type']
