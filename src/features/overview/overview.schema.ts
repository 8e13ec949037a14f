import { type Static, Type } from 'typebox'

export const changeSchema = Type.Object(
  {
    type: Type.String({
      description:
        'The resource that changed, by the name of its path, such as `sources`; `open` at the beginning; `reset` where changes may have been missed.',
    }),
    id: Type.Optional(
      Type.String({
        description:
          'Of the resource; of messages and approvals: that of their conversation. Absent where any may have changed.',
      }),
    ),
    at: Type.String({ format: 'date-time' }),
  },
  { title: 'Change' },
)

export const attentionKinds = [
  'tool_approval',
  'workflow_approval',
  'takeover',
  'mcp_definition',
  'payment_notification',
  'waiting_execution',
  'failed_execution',
  'failed_source',
  'failed_notice',
] as const
export type AttentionKind = (typeof attentionKinds)[number]

const link = Type.Optional(Type.String())

const itemSchema = Type.Object(
  {
    kind: Type.Enum([...attentionKinds]),
    id: Type.String({ description: 'Unique among the items of its kind.' }),
    title: Type.String(),
    detail: Type.String({ description: 'At most 300 characters.' }),
    at: Type.String({ format: 'date-time' }),
    conversation_id: link,
    message_id: link,
    execution_id: link,
    workflow_id: link,
    node_id: link,
    server_id: link,
    session_id: link,
  },
  { title: 'AttentionItem' },
)
export type AttentionItem = Static<typeof itemSchema>

export const attentionSchema = Type.Object({
  items: Type.Array(itemSchema, { description: 'The newest first, at most 100 of each kind.' }),
  counts: Type.Record(Type.Enum([...attentionKinds]), Type.Integer(), {
    description: 'The number of all, by kind.',
  }),
})
