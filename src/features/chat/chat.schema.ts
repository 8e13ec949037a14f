import { type Static, Type } from 'typebox'
import { citedPassageSchema } from '#models/language-model/passages.ts'
import { filterBy, listMetaSchema, listParameters } from '#platform/http/lists/list-query.ts'
import { orNull } from '#platform/own-schemas.ts'
import { responseFormatSchema } from './form/response-format.ts'

/*
 * Conversation: messages in order, answered one at a time. Lock: held by the one request whose question is being answered.
 * Turn: see turn/turn.ts.
 */

const time = Type.String({ format: 'date-time' })

const createdBy = Type.Optional(
  Type.String({
    description:
      'The author, such as `person:ada@example.com`, `key:<id>` or `channel:telegram`; absent if unknown.',
  }),
)

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
    coerced: Type.Optional(
      Type.Array(Type.String(), {
        description: 'How the arguments of the call were changed so that they fit its schema.',
      }),
    ),
    approval: Type.Optional(
      Type.Enum(['required'], {
        description: 'The call was not made: it waits for approval, see chat/approvals.',
      }),
    ),
    toolVersion: Type.Optional(
      Type.String({
        description: 'Version of the tool that the model called. Present while the call waits for approval.',
      }),
    ),
  },
  { title: 'ToolResult' },
)

/** A file of a message, as in the message's metadata. */
export const attachmentSchema = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    mime_type: Type.String({ description: 'By its content.' }),
    size: Type.Integer({ description: 'In bytes, as stored.' }),
    kind: Type.Enum(['image', 'document', 'other']),
  },
  { title: 'Attachment' },
)
export type Attachment = Static<typeof attachmentSchema>

/** Max files of one message. */
export const maxAttachments = 10

/** A web page that a tool has read for an answer. */
const readPageSchema = Type.Object({ url: Type.String(), title: Type.String(), time })
export type ReadPage = Static<typeof readPageSchema>

export const messageMetadataSchema = Type.Object({
  attachments: Type.Optional(
    Type.Array(attachmentSchema, { description: 'Files that were sent with the message.' }),
  ),
  model: Type.Optional(Type.String()),
  aborted: Type.Optional(
    Type.Boolean({ description: 'The answer is incomplete: it is still being written or was interrupted.' }),
  ),
  stopped: Type.Optional(Type.Boolean({ description: 'Incomplete: a person stopped its turn.' })),
  waiting: Type.Optional(Type.Boolean({ description: 'Incomplete: its last call waits for a person.' })),
  cutOff: Type.Optional(
    Type.Boolean({
      description:
        'The model reached its maximum number of output tokens, or a content filter ended its answer.',
    }),
  ),
  error: Type.Optional(Type.String({ description: 'Why the answer ended early.' })),
  questionDeleted: Type.Optional(
    Type.Boolean({ description: 'The question was deleted, so the answer can’t be regenerated.' }),
  ),
  edited: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'When the author last changed the message on a messenger.',
    }),
  ),
  tainted: Type.Optional(
    Type.Boolean({ description: 'The message, or the context of the model, contains text from outsiders.' }),
  ),
  reasoning: Type.Optional(
    Type.String({ description: 'What the model thought before it answered, at most 32 KB of it.' }),
  ),
  toolsUnsupported: Type.Optional(
    Type.Boolean({
      description: 'The model, or its provider, refused the tools, so it answered without them.',
    }),
  ),
  toolsRefused: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Names of the tools that the provider of the model refused, so it answered without them.',
    }),
  ),
  toolsLeftOut: Type.Optional(
    Type.Integer({ description: 'Tools that were not offered to the model because there were too many.' }),
  ),
  pages: Type.Optional(
    Type.Array(readPageSchema, { description: 'Web pages that tools read for this answer.' }),
  ),
  passages: Type.Optional(
    Type.Array(citedPassageSchema, {
      description: 'Passages of the sources that the model was shown for this answer.',
    }),
  ),
  output: Type.Optional(
    Type.Unknown({ description: 'The value of an answer that had to have a form (`response_format`).' }),
  ),
  imported: Type.Optional(
    Type.Object(
      { created_by: createdBy },
      { description: 'The message was imported; its author is the one that the file names.' },
    ),
  ),
  usage: Type.Optional(
    Type.Object(
      {
        inputTokens: Type.Integer(),
        outputTokens: Type.Integer(),
        cachedInputTokens: Type.Optional(
          Type.Integer({ description: 'Of the input, those that the service had in a cache.' }),
        ),
        cost: Type.Optional(Type.String({ description: 'US dollars, where the prices are known.' })),
      },
      {
        description: 'Token counts of all requests to the model, as its service reported them.',
      },
    ),
  ),
})
export type MessageMetadata = Static<typeof messageMetadataSchema>

const rating = Type.Unsafe<1 | -1>({ type: 'integer', enum: [1, -1], description: '1: good, -1: bad.' })
/** Max length in characters. */
const commentLength = 2000

const feedbackSchema = Type.Object(
  { rating, comment: Type.Optional(Type.String()), created_by: Type.String(), createdAt: time },
  { title: 'MessageFeedback' },
)
export type Feedback = Static<typeof feedbackSchema>

export const feedbackChangeSchema = Type.Object(
  {
    rating: Type.Union([rating, Type.Null()], { description: '1: good, -1: bad, null: withdrawn.' }),
    comment: Type.Optional(Type.String({ maxLength: commentLength, pattern: '\\S' })),
  },
  { additionalProperties: false, examples: [{ rating: 1, comment: 'Just what I needed' }] },
)
export type FeedbackChange = Static<typeof feedbackChangeSchema>

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
    created_by: createdBy,
    feedback: Type.Optional(feedbackSchema),
  },
  { title: 'ChatMessage' },
)
export type ChatMessage = Static<typeof messageSchema>

const turnOptions = {
  model: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 300,
      description: 'A model id from chat/models. Default: the agent’s model.',
    }),
  ),
  enableTools: Type.Optional(Type.Boolean({ default: true })),
  response_format: Type.Optional(responseFormatSchema),
  stream: Type.Optional(
    Type.Boolean({ default: false, description: 'Whether to answer with server-sent events.' }),
  ),
}

const backgroundOptions = {
  background: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'The turn goes on when the request ends. Read it at chat/turns/{turnId}/events.',
    }),
  ),
  cancel_waiting: Type.Optional(Type.Boolean({ description: 'Refuses the call that is waited for.' })),
  clientMessageId: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description:
        'Your own id of the message. Sent again within 24 hours, it joins its turn. Needs `background`.',
    }),
  ),
  on_busy: Type.Optional(
    Type.Enum(['reject', 'queue'], {
      description: 'While another turn runs: answer 409 (default), or wait for it. Needs `background`.',
    }),
  ),
}

/** Max length in characters; about 25,000 tokens. */
export const messageLength = 100_000

export const newMessageSchema = Type.Object(
  {
    content: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: messageLength,
        pattern: '\\S',
        description: 'Required unless there are attachments.',
      }),
    ),
    conversationId: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    autoRag: Type.Optional(
      Type.Boolean({
        default: true,
        description: 'Search the sources for the message before the model answers.',
      }),
    ),
    ...turnOptions,
    ...backgroundOptions,
    attachments: Type.Optional(
      Type.Array(Type.Object({ id: Type.String({ minLength: 1, maxLength: 100 }) }), {
        maxItems: maxAttachments,
        uniqueItems: true,
        description: 'Files that POST chat/files has received from the same sender within the last 24 hours.',
      }),
    ),
  },
  { minProperties: 1, examples: [{ content: 'What can you do?' }] },
)
export type NewMessage = Static<typeof newMessageSchema>

const { attachments: _attachments, ...formFields } = newMessageSchema.properties

/** The same fields as a form; all values but texts are JSON. */
export const messageForm = Type.Object({
  ...formFields,
  file: Type.Optional(
    Type.Array(Type.String({ format: 'binary' }), {
      maxItems: maxAttachments,
      description: 'Files, each in a field of this name.',
    }),
  ),
})

export const regenerateSchema = Type.Object({ ...turnOptions, ...backgroundOptions })
export type TurnOptions = Static<typeof regenerateSchema>

export const evictedConversationId = Type.String({
  description: 'The conversation that was deleted to make room for the one that this began.',
})

export const answerSchema = Type.Object({
  userMessage: messageSchema,
  assistantMessage: messageSchema,
  evictedConversationId: Type.Optional(evictedConversationId),
})

/** The response for a turn in the background. */
export const acceptedSchema = Type.Object({
  userMessage: messageSchema,
  turn: Type.Object({
    id: Type.String(),
    status: Type.Enum(['queued', 'running', 'stopping', 'waiting', 'ended']),
    events: Type.String({ description: 'The path of its events.' }),
  }),
  evictedConversationId: Type.Optional(evictedConversationId),
})

export const messageListQuery = Type.Object({
  ...listParameters,
  created_by: filterBy(Type.String()),
  rating: filterBy(rating),
  conversationId: Type.Optional(Type.String({ description: 'Return only messages of this conversation.' })),
  before: Type.Optional(Type.String({ description: 'Return the last `limit` messages before this one.' })),
  after: Type.Optional(Type.String({ description: 'Return the first `limit` messages after this one.' })),
})
export type MessageListQuery = Static<typeof messageListQuery>

export const messageListSchema = Type.Object({
  messages: Type.Array(messageSchema),
  meta: Type.Object({
    ...listMetaSchema.properties,
    hasMore: Type.Boolean({ description: 'Whether there are more messages in the requested direction.' }),
  }),
})

export const deletedSchema = Type.Object({ success: Type.Boolean(), deleted: Type.Integer() })

export const conversationSchema = Type.Object(
  {
    id: Type.String(),
    title: Type.String(),
    channel: Type.Optional(Type.String({ description: 'The messaging channel of the conversation.' })),
    messageCount: Type.Integer(),
    lastMessageAt: Type.Optional(time),
    createdAt: time,
    created_by: createdBy,
  },
  { title: 'Conversation' },
)
export type Conversation = Static<typeof conversationSchema>

export const createdConversationSchema = Type.Object({
  ...conversationSchema.properties,
  evictedConversationId: Type.Optional(evictedConversationId),
})

export const conversationListQuery = Type.Object({
  ...listParameters,
  created_by: filterBy(Type.String()),
  channel: Type.Optional(
    Type.String({
      maxLength: 100,
      description: 'Return only conversations on this channel: `telegram` or `whatsapp`.',
    }),
  ),
})
export type ConversationListQuery = Static<typeof conversationListQuery>

/** Max length in characters. */
export const titleLength = 200

export const newConversationSchema = Type.Object({
  title: Type.String({ minLength: 1, maxLength: titleLength, pattern: '\\S', examples: ['Prices'] }),
})

export const conversationChangesSchema = Type.Object({ title: newConversationSchema.properties.title })

export const exportQuery = Type.Object({
  format: Type.Optional(
    Type.Enum(['json', 'md'], { default: 'json', description: '`md`: for people. `json`: can be imported.' }),
  ),
})

export const modelSchema = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    provider: Type.String(),
    contextWindow: Type.Integer(),
    supportsTools: Type.Boolean(),
    supportsImages: Type.Optional(
      Type.Boolean({ description: 'Whether it sees images; absent if that is not known.' }),
    ),
    supportsStreaming: Type.Boolean(),
  },
  { title: 'Model' },
)

export const toolListQuery = Type.Object({
  ...listParameters,
  scope: Type.Optional(
    Type.Enum(['builtin', 'all'], {
      default: 'builtin',
      description: '`builtin`: the tools of the service; `all`: all tools that a model may be offered.',
    }),
  ),
})

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
