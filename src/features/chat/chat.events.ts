import { Type } from 'typebox'
import { eventOf, type PayloadsOf } from '#platform/jobs/event-payloads.ts'
import { orNull } from '#platform/own-schemas.ts'

const message = {
  message_id: Type.String(),
  conversation_id: Type.String(),
  created_at: Type.String({ format: 'date-time' }),
  channel: Type.Optional(
    Type.String({ description: 'The messenger; absent for messages of the service itself.' }),
  ),
  contact_id: Type.Optional(Type.String({ description: 'Of messengers.' })),
}

/** The same schema for requests of a turn and of a workflow. */
export const approvalRequested = eventOf(
  'A call of a turn, or a node of a workflow, waits for the decision of a person.',
  {
    approval: Type.String({ description: 'The question of a node, or why the call waits.' }),
    expires_at: Type.String({ format: 'date-time' }),
    conversation_id: Type.Optional(Type.String()),
    message_id: Type.Optional(Type.String({ description: 'Of the answer that has the call.' })),
    turn_id: Type.Optional(Type.String()),
    tool_call_id: Type.Optional(Type.String({ description: 'Also the id of the approval.' })),
    tool: Type.Optional(Type.String()),
    arguments: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    workflow_id: Type.Optional(Type.String()),
    execution_id: Type.Optional(Type.String()),
    node_id: Type.Optional(Type.String()),
    path: Type.Optional(
      Type.String({ description: 'The items of the loops that the node runs in, as `2.0`.' }),
    ),
    depth: Type.Optional(
      Type.Integer({ description: 'How many executions caused one another before this one.' }),
    ),
    cause: Type.Optional(
      Type.Object(
        { kind: Type.String(), ref: Type.Optional(Type.String()) },
        { description: 'What started the execution: `kind`, and `ref`, which names it.' },
      ),
    ),
  },
)

/** The events of this feature. */
export const chatEvents = {
  'message.received': eventOf('A message of a person was stored.', message),
  'message.sent': eventOf('An answer of the agent was stored.', message),
  'message.feedback': eventOf('A person rated an answer, or withdrew the rating.', {
    message_id: Type.String(),
    conversation_id: Type.String(),
    rating: orNull(Type.Integer({ description: '1: good, -1: bad; null: withdrawn.' })),
    created_by: Type.String({ description: 'Who rated it, as in `created_by` of messages.' }),
    created_at: Type.String({ format: 'date-time' }),
  }),
  'conversation.evicted': eventOf('A conversation was deleted to make room for a new one.', {
    conversation_id: Type.String(),
    evicted_at: Type.String({ format: 'date-time' }),
    channel: Type.Optional(Type.String({ description: 'Of messengers.' })),
  }),
}
export type ChatEvents = PayloadsOf<typeof chatEvents & { 'approval.requested': typeof approvalRequested }>

/** Returns the fields of a message from outside. */
export function originOf({
  channel,
  contactId,
}: {
  channel?: string | undefined
  contactId?: string | undefined
}) {
  return {
    ...(channel !== undefined && { channel }),
    ...(contactId !== undefined && { contact_id: contactId }),
  }
}

/** The type of changes that notify readers of a turn of new events; clients that follow the agent don't receive it. */
export const eventsChange = 'turn_events'
