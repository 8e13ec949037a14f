import { type Static, Type } from 'typebox'
import { filterBy, listParameters } from '#platform/http/lists/list-query.ts'
import { toolResultSchema } from './chat.schema.ts'
import { waitingSchema } from './turns.schema.ts'

/*
 * Approval: a person's decision on one call that a model wanted to make after it had read text of outsiders. `pending`: not
 * decided yet; `approved`: the call can be made; `done`: its result is stored; `denied`: it will not be made.
 */

const statuses = ['pending', 'approved', 'done', 'denied'] as const
export type ApprovalStatus = (typeof statuses)[number]

export const approvalSchema = Type.Object(
  {
    toolCallId: Type.String(),
    name: Type.String(),
    arguments: Type.Record(Type.String(), Type.Unknown()),
    conversationId: Type.String(),
    messageId: Type.String({ description: 'Id of the answer that contains the call.' }),
    status: Type.Enum([...statuses]),
    createdAt: Type.String({ format: 'date-time' }),
    decidedAt: Type.Optional(Type.String({ format: 'date-time' })),
    waiting: Type.Optional(
      Type.Pick(waitingSchema, ['rule', 'why', 'sends_to', 'approvers', 'until'], {
        description: 'A turn waits with the call.',
      }),
    ),
  },
  { title: 'Approval' },
)
export type Approval = Static<typeof approvalSchema>

export const approvalListQuery = Type.Object({
  ...listParameters,
  status: filterBy(Type.Enum([...statuses])),
  conversationId: Type.Optional(Type.String({ description: 'Return only messages of this conversation.' })),
})
export type ApprovalListQuery = Static<typeof approvalListQuery>

/** A missing body approves the call. */
export const decisionSchema = Type.Object(
  {
    approved: Type.Optional(
      Type.Boolean({ default: true, description: '`false` rejects the call permanently.' }),
    ),
  },
  // A misspelt refusal must not count as an approval.
  { additionalProperties: false },
)

export const decidedSchema = Type.Intersect([
  toolResultSchema,
  Type.Object({
    success: Type.Boolean({
      description: 'Whether the call was made and succeeded; where a turn goes on, `true`.',
    }),
    turn: Type.Optional(
      Type.Object(
        { id: Type.String(), status: Type.Literal('running') },
        { description: 'The turn that waited, and goes on now. The call, if approved, is made in it.' },
      ),
    ),
  }),
])
