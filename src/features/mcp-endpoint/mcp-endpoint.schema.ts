import { type Static, Type } from 'typebox'
import { maxFiles, maxMessageLength } from '#features/chat/chat.feature.ts'
import type { ToolParameters } from '#models/tools/tool.ts'

/*
 * Endpoint: an agent as an MCP server. Caller: the sender of the current request; only the conversation is
 * remembered between requests.
 */

/** One JSON-RPC message; not checked like other bodies because its problems are answered in JSON-RPC. */
export const messageSchema = Type.Unknown({
  additionalProperties: true,
  description: 'One message of the Model Context Protocol: a JSON-RPC 2.0 request or notification.',
  examples: [{ jsonrpc: '2.0', id: 1, method: 'tools/list' }],
})

/** A message that begins a turn of the agent. */
export const questionSchema = Type.Object(
  {
    method: Type.Literal('tools/call'),
    params: Type.Object({ name: Type.Literal('chat') }, { additionalProperties: true }),
  },
  { additionalProperties: true },
)

const open = { additionalProperties: true }

/** The parameters of the requests that this endpoint answers, as far as callers make mistakes in them. */
export const paramsSchema = Type.Object(
  {
    method: Type.Optional(Type.Unknown()),
    params: Type.Optional(
      Type.Object(
        {
          cursor: Type.Optional(Type.String()),
          name: Type.Optional(Type.String()),
          arguments: Type.Optional(Type.Object({}, open)),
          protocolVersion: Type.Optional(Type.String()),
          capabilities: Type.Optional(Type.Object({}, open)),
          clientInfo: Type.Optional(Type.Object({}, open)),
          _meta: Type.Optional(Type.Object({}, open)),
        },
        open,
      ),
    ),
  },
  open,
)

/** A refusal of the protocol; access, limits, size and media type are refused in the usual form. */
const refusalSchema = Type.Object(
  {
    jsonrpc: Type.String(),
    error: Type.Object({
      code: Type.Integer(),
      message: Type.String(),
      data: Type.Optional(Type.Unknown()),
    }),
    id: Type.Unsafe<string | number | null>({
      type: ['string', 'number', 'null'],
      description: 'The id of the message, if it could be read.',
    }),
  },
  { title: 'JsonRpcError' },
)

export const refusal = (description: string) => ({
  description,
  content: { 'application/json': { schema: refusalSchema } },
})

export const answerContent = {
  'application/json': { schema: Type.Unknown({ description: 'A JSON-RPC 2.0 response.' }) },
  'text/event-stream': {
    schema: Type.Unknown({ description: 'Each event is a notification; the last one is the response.' }),
  },
}

export const chatInputSchema = Type.Object(
  {
    message: Type.String({
      minLength: 1,
      maxLength: maxMessageLength,
      pattern: '\\S',
      description: 'The message to the agent.',
    }),
    conversationId: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        description:
          'The conversationId of an earlier answer, to continue its conversation. Default: the conversation of the session.',
      }),
    ),
    files: Type.Optional(
      Type.Array(
        Type.Object({
          name: Type.String({ minLength: 1, maxLength: 300 }),
          data: Type.String({ minLength: 1, description: 'The content in base64.' }),
        }),
        { maxItems: maxFiles, description: 'Images and documents that belong to the message.' },
      ),
    ),
  },
  { additionalProperties: false },
)
export type ChatInput = Static<typeof chatInputSchema>

export const chatOutputSchema = Type.Object({
  answer: Type.String(),
  conversationId: Type.String(),
  messageId: Type.String({ description: 'Id of the message that holds the answer.' }),
})
export type ChatOutput = Static<typeof chatOutputSchema>

/** A tool in the form for clients. */
export interface ToolDescriptor {
  name: string
  title?: string
  description: string
  inputSchema: ToolParameters
  outputSchema?: ToolParameters
  annotations?: { readOnlyHint?: boolean }
}

/** The result of a call, in the form of the protocol. */
export interface CallResult {
  content: { type: 'text'; text: string }[]
  structuredContent?: Record<string, unknown>
  isError?: true
  [more: string]: unknown
}
