/** The events that a client of a streamed answer receives, in this order; `error` is always the last event. */
import { type Static, type TProperties, Type } from 'typebox'
import { type CitedPassage, citedPassageSchema } from '#models/language-model/passages.ts'
import { orNull } from '#platform/own-schemas.ts'
import { evictedConversationId, toolCallSchema, toolResultSchema } from './chat.schema.ts'
import { waitingSchema } from './turns.schema.ts'

function event<Name extends string, Properties extends TProperties>(
  type: Name,
  title: string,
  properties: Properties,
) {
  return Type.Object({ type: Type.Literal(type), ...properties }, { title })
}

const call = { toolCallId: Type.String(), name: Type.String() }

const turnEvents = [
  event('thinking', 'ThinkingEvent', {
    iteration: Type.Integer({ description: 'Number of the iteration, from 1.' }),
  }),
  event('content_delta', 'ContentDeltaEvent', {
    delta: Type.String(),
    index: Type.Integer({ description: 'Index of the delta, from 0.' }),
  }),
  event('content_replaced', 'ContentReplacedEvent', {
    content: Type.String({
      description:
        'All content so far. Sent when content turned out to be reasoning, which is no part of the answer.',
    }),
  }),
  event('tool_call', 'ToolCallEvent', toolCallSchema.properties),
  event('takeover_requested', 'TakeoverRequestedEvent', {
    session_id: Type.String(),
    reason: Type.String(),
    expires_at: Type.String({ format: 'date-time' }),
    takeover_url: orNull(
      Type.String({
        description: 'Null if the caller may only chat, and in the background: see GET takeover.',
      }),
    ),
  }),
  event('tool_result', 'ToolSuccessEvent', {
    ...call,
    success: Type.Literal(true),
    result: Type.Unknown(),
    resultPreview: Type.String(),
    coerced: toolResultSchema.properties.coerced,
  }),
  event('tool_result', 'ToolFailureEvent', {
    ...call,
    success: Type.Literal(false),
    error: Type.String(),
    coerced: toolResultSchema.properties.coerced,
    approval: toolResultSchema.properties.approval,
    toolVersion: toolResultSchema.properties.toolVersion,
  }),
] as const

/** The events that a turn emits while it runs: the contract of all sinks (event stream, JSON answer, MCP progress). */
export type TurnEvent =
  | Static<(typeof turnEvents)[number]>
  /** The first event, with the passages of automatic retrieval; a stream has them in `message_start`. */
  | { type: 'retrieved'; passages: CitedPassage[] }
  /** Emitted before that, for each document that is read first; a stream sends it as a comment. */
  | { type: 'reading'; name: string }

export const streamEventSchema = Type.Union(
  [
    event('message_start', 'MessageStartEvent', {
      userMessageId: Type.String(),
      conversationId: Type.String(),
      model: Type.String(),
      turnId: Type.String({ description: 'Also the id of the answer. By it the turn can be stopped.' }),
      evictedConversationId: Type.Optional(evictedConversationId),
      passages: Type.Optional(
        Type.Array(citedPassageSchema, { description: 'Passages that automatic retrieval found.' }),
      ),
    }),
    ...turnEvents,
    event('turn_waiting', 'TurnWaitingEvent', waitingSchema.properties),
    event('content_reset', 'ContentResetEvent', {
      index: Type.Integer({ description: 'Deltas from this index on are void; the next one has it again.' }),
      content: Type.String({ description: 'What stays: all content so far.' }),
    }),
    event('message_complete', 'MessageCompleteEvent', {
      assistantMessageId: Type.String(),
      toolCalls: orNull(Type.Array(toolCallSchema)),
      toolResults: orNull(Type.Array(toolResultSchema)),
    }),
    event('error', 'ErrorEvent', { message: Type.String(), code: Type.String() }),
  ],
  {
    title: 'StreamEvent',
    description: 'The JSON of a `data:` line, which follows the line `event: message`.',
  },
)
export type StreamEvent = Static<typeof streamEventSchema>
