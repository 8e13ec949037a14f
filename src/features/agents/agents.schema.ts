import { type Static, Type } from 'typebox'
import { listParameters } from '#platform/http/lists/list-query.ts'
import { orNull } from '#platform/own-schemas.ts'
import { settingsSchema } from './settings.schema.ts'

/*
 * Agent: one assistant with its own database. Settings: how it behaves. Credentials: keys to services outside, kept
 * sealed, never sent. `default`: the agent that exists from the first start, is open to callers without a user and
 * can't be renamed, paused or deleted.
 */

export const agentStatuses = ['active', 'paused', 'disabled'] as const
export type AgentStatus = (typeof agentStatuses)[number]

const name = Type.String({
  pattern: '^[A-Za-z0-9]+(-[A-Za-z0-9]+)*$',
  maxLength: 64,
  description: 'Letters and digits, in groups joined by single hyphens.',
  examples: ['support'],
})
const description = Type.String({ maxLength: 500 })
const status = Type.Enum([...agentStatuses])
const time = Type.String({ format: 'date-time' })

const identity = { id: Type.String(), name: Type.String(), description: Type.String(), status }

export const agentSummarySchema = Type.Object(
  { ...identity, owner_email: orNull(Type.String()), created_at: time, updated_at: time },
  { title: 'AgentSummary' },
)

export const agentListQuery = Type.Object({
  ...listParameters,
  status: Type.Optional(
    Type.Array(status, { description: 'Return only agents with one of these statuses.' }),
  ),
})
export type AgentListQuery = Static<typeof agentListQuery>

export const newAgentSchema = Type.Object({ name, description: Type.Optional(description) })
export type NewAgent = Static<typeof newAgentSchema>

export const createdAgentSchema = Type.Object({ ...identity, created_at: time })
export const updatedAgentSchema = Type.Object({ ...identity, updated_at: time })
export const deletedAgentSchema = Type.Object({ success: Type.Boolean(), message: Type.String() })

export const agentChangesSchema = Type.Object({
  name: Type.Optional(name),
  description: Type.Optional(description),
  status: Type.Optional(status),
})
export type AgentChanges = Static<typeof agentChangesSchema>

export const agentSchema = Type.Object(
  {
    ...agentSummarySchema.properties,
    settings: settingsSchema,
    stats: Type.Object({
      workflows: Type.Integer(),
      schedules: Type.Integer(),
      contacts: Type.Integer(),
      messages: Type.Integer(),
    }),
  },
  { title: 'Agent' },
)
