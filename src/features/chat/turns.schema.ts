import { type Static, Type } from 'typebox'
import { approversSchema } from '#models/tools/approval-rule.ts'
import { orNull } from '#platform/own-schemas.ts'

const id = Type.String()

/** The wait of a turn. */
export const waitingSchema = Type.Object(
  {
    approval_id: Type.Optional(
      Type.String({ description: 'Decide at chat/approvals/{approval_id}. Absent for a browser.' }),
    ),
    session_id: Type.Optional(
      Type.String({ description: 'A person is to take over this browser session, and to hand it back.' }),
    ),
    tool: Type.String(),
    arguments: Type.Record(Type.String(), Type.Unknown()),
    rule: Type.Enum(['always', 'tainted', 'browser'], {
      description:
        '`always`: each call of the tool is decided on; `tainted`: those after text from outsiders; `browser`: a person is needed in the browser.',
    }),
    why: Type.String({
      description: 'The rule as a sentence, what the call sends and where, or what the person is to do.',
    }),
    sends_to: Type.Optional(
      Type.String({ description: 'Where the call sends something; absent if it waits for another reason.' }),
    ),
    approvers: approversSchema,
    until: Type.String({ format: 'date-time', description: 'Without a decision, the turn ends then.' }),
  },
  { title: 'WaitingCall' },
)

const turnSchema = Type.Object(
  {
    id,
    status: Type.Enum(['running', 'queued', 'stopping', 'waiting'], {
      description:
        '`waiting`: for a person. `queued`: it has not begun yet. `stopping`: it was stopped, and has not ended yet.',
    }),
    since: Type.String({ format: 'date-time' }),
    started_by: Type.String({ description: 'The author, such as `person:ada@example.com`.' }),
    events: Type.Optional(
      Type.String({ description: 'The path of its events. Absent without a background.' }),
    ),
    waiting: Type.Optional(waitingSchema),
  },
  { title: 'Turn' },
)
export const eventsPath = (agentId: string, turnId: string) =>
  `/api/agents/${agentId}/chat/turns/${turnId}/events`

export type CurrentTurn = Static<typeof turnSchema>

export const currentTurnSchema = Type.Object({ turn: orNull(turnSchema) })

export const stoppedSchema = Type.Object(
  {
    id,
    status: Type.Enum(['stopped', 'ended', 'stopping'], {
      description:
        '`stopped`: it was stopped, now or before. `ended`: it had ended by itself. `stopping`: it will end soon.',
    }),
  },
  { title: 'StoppedTurn' },
)
export type StoppedTurn = Static<typeof stoppedSchema>
