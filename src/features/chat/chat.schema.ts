import type { Static } from 'typebox'
import { Type } from 'typebox'
import { listMetaSchema, listParameters } from '#platform/http/lists/list-query.ts'
import { orNull } from '#platform/own-schemas.ts'

/*
 * Conversation: messages in order, answered one at a time. Lock: held by the one request whose question is being answered.
 * Turn: see turn/turn.ts.
 */

const time = Type.String({ format: 'date-time' })

export const toolCallSchema = Type.Object(
  { id: Type.String(), name: Type.String(), arguments: Type.Record(Type.String(), Type.Unknown()) },
  { title: 'ToolCall' },
)

export const toolResultSchema = Type.Object(
  {
    toolCallId: Type.String(),
    name: Type.String(),
    result: Type.Optional(Type.Unknown()),
    error: Type.Optional(Type.String()),
    approval: Type.Optional(
      Type.Enum(['required'], {
        description: 'The call was not made: it waits for a person, see chat/approvals.',
      }),
    ),
    toolVersion: Type.Optional(
      Type.String({ description: 'Of a call that waits: the tool, as it was when the model asked for it.' }),
    ),
  },
  { title: 'ToolResult' },
)

/** A web page that a tool has read for an answer. */
const readPageSchema = Type.Object({ url: Type.String(), title: Type.String(), time })
export type ReadPage = Static<typeof readPageSchema>

const messageMetadataSchema = Type.Object({
  model: Type.Optional(Type.String()),
  aborted: Type.Optional(
    Type.Boolean({ description: 'The answer is not whole: it is still being given, or was cut off.' }),
  ),
  cutOff: Type.Optional(
    Type.Boolean({ description: 'The model reached the most tokens that it may answer with.' }),
  ),
  error: Type.Optional(Type.String({ description: 'Why the answer ended early.' })),
  questionDeleted: Type.Optional(
    Type.Boolean({ description: 'The message that this answered was deleted: it can’t be answered anew.' }),
  ),
  tainted: Type.Optional(
    Type.Boolean({ description: 'Outsiders wrote it, or what the model had before it.' }),
  ),
  toolsLeftOut: Type.Optional(
    Type.Integer({ description: 'Tools that the model was not told of, since all of them were too many.' }),
  ),
  pages: Type.Optional(
    Type.Array(readPageSchema, { description: 'Web pages that tools have read for this answer.' }),
  ),
  usage: Type.Optional(
    Type.Object(
      { inputTokens: Type.Integer(), outputTokens: Type.Integer() },
      {
        description:
          'Tokens of all that the model was asked, as its service reported them; absent if it did not.',
      },
    ),
  ),
})
export type MessageMetadata = Static<typeof messageMetadataSchema>

export const messageSchema = Type.Object(
  {
    id: Type.String(),
    role: Type.Enum(['user', 'assistant', 'system', 'tool']),
    content: Type.String(),
    conversationId: Type.String(),
    toolCalls: orNull(Type.Array(toolCallSchema)),
    toolResults: orNull(Type.Array(toolResultSchema)),
    metadata: Type.Optional(messageMetadataSchema),
    createdAt: time,
  },
  { title: 'ChatMessage' },
)
export type ChatMessage = Static<typeof messageSchema>

const turnOptions = {
  model: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 300,
      description: 'An id of chat/models; the agent’s unless given.',
    }),
  ),
  enableTools: Type.Optional(Type.Boolean({ default: true })),
  stream: Type.Optional(Type.Boolean({ default: false, description: 'Answer as server-sent events.' })),
}

/** Characters; about 25,000 tokens. */
export const messageLength = 100_000

export const newMessageSchema = Type.Object({
  content: Type.String({
    minLength: 1,
    maxLength: messageLength,
    pattern: '\\S',
    examples: ['What can you do?'],
  }),
  conversationId: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  autoRag: Type.Optional(
    Type.Boolean({ default: true, description: 'Look the message up in the sources first.' }),
  ),
  ...turnOptions,
})
export type NewMessage = Static<typeof newMessageSchema>

export const regenerateSchema = Type.Object(turnOptions)
export type TurnOptions = Static<typeof regenerateSchema>

export const answerSchema = Type.Object({ userMessage: messageSchema, assistantMessage: messageSchema })

export const messageListQuery = Type.Object({
  ...listParameters,
  conversationId: Type.Optional(Type.String({ description: 'Only those of this conversation.' })),
  before: Type.Optional(
    Type.String({ description: 'Only messages before this one; the nearest `limit` of them.' }),
  ),
  after: Type.Optional(
    Type.String({ description: 'Only messages after this one; the nearest `limit` of them.' }),
  ),
})
export type MessageListQuery = Static<typeof messageListQuery>

export const messageListSchema = Type.Object({
  messages: Type.Array(messageSchema),
  meta: Type.Object({
    ...listMetaSchema.properties,
    hasMore: Type.Boolean({ description: 'Whether more messages exist in the direction asked.' }),
  }),
})

export const deletedSchema = Type.Object({ success: Type.Boolean(), deleted: Type.Integer() })

export const conversationSchema = Type.Object(
  {
    id: Type.String(),
    title: Type.String(),
    channel: Type.Optional(Type.String({ description: 'The messaging channel that it is held on.' })),
    messageCount: Type.Integer(),
    lastMessageAt: Type.Optional(time),
    createdAt: time,
  },
  { title: 'Conversation' },
)
export type Conversation = Static<typeof conversationSchema>

export const conversationListQuery = Type.Object({
  ...listParameters,
  channel: Type.Optional(
    Type.String({
      maxLength: 100,
      description:
        'Those with people on this channel, `telegram` or `whatsapp`, which are not listed otherwise.',
    }),
  ),
})
export type ConversationListQuery = Static<typeof conversationListQuery>

/** Characters. */
export const titleLength = 200

export const newConversationSchema = Type.Object({
  title: Type.String({ minLength: 1, maxLength: titleLength, pattern: '\\S', examples: ['Prices'] }),
})

export const modelSchema = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    provider: Type.String(),
    contextWindow: Type.Integer(),
    supportsTools: Type.Boolean(),
    supportsStreaming: Type.Boolean(),
  },
  { title: 'Model' },
)

export const toolListQuery = Type.Object({
  ...listParameters,
  scope: Type.Optional(
    Type.Enum(['builtin', 'all'], {
      default: 'builtin',
      description: 'The tools that come with the service, or all that a model may be offered.',
    }),
  ),
})
export type ToolScope = Static<typeof toolListQuery>['scope']

export const toolDescriptorSchema = Type.Object(
  {
    name: Type.String(),
    description: Type.String(),
    parameters: Type.Object(
      {
        type: Type.String(),
        properties: Type.Record(Type.String(), Type.Unknown()),
        required: Type.Optional(Type.Array(Type.String())),
      },
      { additionalProperties: true, description: 'JSON Schema of the arguments.' },
    ),
  },
  { title: 'ChatTool' },
)
