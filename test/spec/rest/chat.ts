import { cursorMeta, listMeta, listQuery, type RestArea, under } from '../rest-row.ts'

const messageFields = ['id', 'role', 'content', 'createdAt']

const conversationFields = ['id', 'title', 'messageCount', 'createdAt']

const toolCallFields = under('toolCalls[]', ['id', 'name', 'arguments'])

const toolResultFields = under('toolResults[]', ['toolCallId', 'name', 'result', 'error'])

/** The JSON answer of a turn; with `stream: true` the stream events stand in its place. */
const turnFields = [
  ...under('userMessage', [...messageFields, 'conversationId']),
  ...under('assistantMessage', [
    ...messageFields,
    'conversationId',
    'toolCalls',
    'toolResults',
    'metadata.model',
  ]),
]

const turnConditionalFields = under('assistantMessage', [...toolCallFields, ...toolResultFields])

export const chatRows = {
  area: 'chat',
  errorShape: 'chat',
  rows: [
    {
      id: 'POST /api/agents/{id}/chat',
      success: 200,
      requestFields: ['content', 'conversationId', 'model', 'enableTools', 'autoRag', 'stream'],
      responseFields: turnFields,
      conditionalFields: turnConditionalFields,
      errors: [400, 404, 409, 429, 500],
      limit: 'chat',
    },
    {
      id: 'GET /api/agents/{id}/chat',
      success: 200,
      // Messages are paged by message id and state a meta of their own, so the generic list conventions don't apply.
      query: ['limit', 'conversationId', 'before', 'after'],
      responseFields: [...under('messages[]', messageFields), 'meta.total', 'meta.hasMore'],
      conditionalFields: under('messages[]', [
        'conversationId',
        'toolCalls',
        ...toolCallFields,
        'toolResults',
        ...toolResultFields,
        ...under('metadata', ['model', 'toolCalls', 'toolResults', 'aborted']),
      ]),
      errors: [400, 404, 429],
      limit: 'general',
    },
    {
      id: 'DELETE /api/agents/{id}/chat',
      success: 200,
      query: ['conversationId'],
      responseFields: ['success', 'deleted'],
      errors: [404, 409, 429],
      limit: 'bulk',
    },
    {
      id: 'GET /api/agents/{id}/chat/models',
      success: 200,
      query: listQuery,
      responseFields: [
        ...under('models[]', [
          'id',
          'name',
          'provider',
          'contextWindow',
          'supportsTools',
          'supportsStreaming',
        ]),
        ...listMeta,
      ],
      conditionalFields: cursorMeta,
      errors: [400, 429],
      limit: 'general',
    },
    {
      id: 'GET /api/agents/{id}/chat/tools',
      success: 200,
      query: listQuery,
      responseFields: [
        ...under('tools[]', [
          'name',
          'description',
          ...under('parameters', ['type', 'properties', 'required']),
        ]),
        ...listMeta,
      ],
      conditionalFields: cursorMeta,
      errors: [400, 429],
      limit: 'general',
    },
    {
      id: 'GET /api/agents/{id}/chat/conversations',
      success: 200,
      query: listQuery,
      responseFields: [...under('conversations[]', conversationFields), ...listMeta],
      conditionalFields: ['conversations[].lastMessageAt', ...cursorMeta],
      errors: [400, 429],
      limit: 'general',
    },
    {
      id: 'POST /api/agents/{id}/chat/conversations',
      success: 201,
      requestFields: ['title'],
      responseFields: conversationFields,
      errors: [400, 409, 429],
      limit: 'general',
    },
    {
      id: 'DELETE /api/agents/{id}/chat/conversations/{conversationId}',
      success: 200,
      responseFields: ['success', 'deleted'],
      errors: [404, 409, 429],
      limit: 'general',
    },
    {
      id: 'DELETE /api/agents/{id}/chat/messages/{messageId}',
      success: 200,
      responseFields: ['success'],
      errors: [404, 409, 429],
      limit: 'general',
    },
    {
      id: 'POST /api/agents/{id}/chat/messages/{messageId}/regenerate',
      success: 200,
      requestFields: ['model', 'enableTools', 'stream'],
      responseFields: turnFields,
      conditionalFields: turnConditionalFields,
      errors: [400, 404, 409, 429, 500],
      limit: 'chat',
    },
  ],
} as const satisfies RestArea
