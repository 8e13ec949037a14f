import { type Static, Type } from 'typebox'
import { approvalRequested } from '#features/chat/chat.events.ts'
import { eventOf, type PayloadsOf } from '#platform/jobs/event-payloads.ts'

export interface Cause {
  kind: 'manual' | 'event' | 'schedule' | 'calendar' | 'webhook' | 'tool' | 'sale'
  /** The trigger's name, such as the id of a schedule or the name of an event. */
  ref?: string
}

const execution = {
  workflow_id: Type.String(),
  execution_id: Type.String(),
  depth: Type.Integer({ description: 'How many executions caused one another before this one.' }),
  cause: Type.Unsafe<Cause>({
    type: 'object',
    description: 'What started it: `kind`, and `ref`, which names it.',
  }),
}
const end = {
  ...execution,
  status: Type.Enum(['complete', 'errored', 'terminated']),
  output: Type.Optional(Type.Unknown({ description: 'Unless it is longer than 64 KB.' })),
  error: Type.Optional(Type.String()),
}
/** The end of an execution. */
const endSchema = Type.Object(end)
export type ExecutionEnd = Static<typeof endSchema>

export const workflowEvents = {
  'workflow.complete': eventOf('An execution has ended well.', end),
  'workflow.errored': eventOf('An execution has failed.', end),
  'workflow.terminated': eventOf('An execution was ended by a person, or with its workflow.', end),
  'workflow.waiting': eventOf('An execution begins to wait, and nothing of it runs.', {
    ...execution,
    reason: Type.Enum(['approval', 'time'], { description: '`approval` if a person must decide.' }),
    until: Type.String({ format: 'date-time', description: 'When it goes on by itself.' }),
  }),
  'approval.requested': approvalRequested,
}
export type WorkflowEvents = PayloadsOf<typeof workflowEvents>
