import { type Static, Type } from 'typebox'
import { orNull } from '#platform/own-schemas.ts'
import {
  type MessageMetadata,
  messageMetadataSchema,
  newConversationSchema,
  toolCallSchema,
  toolResultSchema,
} from '../../chat.schema.ts'

/** Other metadata only apply to this service: ids, and the facts that decide on trust. */
const portableMetadata = Type.Pick(messageMetadataSchema, [
  ...([
    'output',
    'model',
    'aborted',
    'stopped',
    'cutOff',
    'error',
    'questionDeleted',
    'edited',
    'reasoning',
    'usage',
  ] as const),
  ...(['toolsUnsupported', 'toolsRefused', 'toolsLeftOut', 'pages', 'passages'] as const),
])
export const portableNames = Object.keys(portableMetadata.properties) as (keyof MessageMetadata)[]

const closed = { additionalProperties: false } as const
/** Max characters; more than any answer has. */
const importedLength = 2_000_000

const exampleMessage = {
  id: 'message-1',
  role: 'user',
  content: 'When is high tide?',
  toolCalls: null,
  toolResults: null,
  createdAt: '2026-01-05T09:00:00.000Z',
}

/** A conversation as a file: its content, without facts that only its original service can know. */
export const conversationFileSchema = Type.Object(
  {
    version: Type.Literal(1),
    id: Type.String({ maxLength: 100, description: 'Replaced by a new one.', examples: ['conversation-1'] }),
    title: newConversationSchema.properties.title,
    messages: Type.Array(
      Type.Object(
        {
          id: Type.String({ maxLength: 100, description: 'Replaced by a new one.' }),
          role: Type.Enum(['user', 'assistant']),
          content: Type.String({ maxLength: importedLength }),
          toolCalls: orNull(Type.Array(Type.Object(toolCallSchema.properties, closed))),
          toolResults: orNull(
            Type.Array(
              Type.Object(Type.Omit(toolResultSchema, ['approval', 'toolVersion']).properties, closed),
            ),
          ),
          metadata: Type.Optional(Type.Object(portableMetadata.properties, closed)),
          createdAt: Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' }),
          created_by: Type.Optional(Type.String({ maxLength: 500 })),
        },
        closed,
      ),
      { maxItems: 10_000, examples: [[exampleMessage]] },
    ),
  },
  { ...closed, title: 'ConversationFile' },
)
export type ConversationFile = Static<typeof conversationFileSchema>
