import { type Static, Type } from 'typebox'
import { monthlyBudget } from '#platform/http/monthly-budget.ts'
import { orNull } from '#platform/own-schemas.ts'
import { roles } from '../policy.ts'

/*
 * Key of an agent: a secret that reaches this agent alone, with a role. Personal key: a secret that acts as its person, within
 * limits. Neither may ever do more than the person who made it may do now.
 * active --time--> expired; active, expired --delete--> revoked
 */

const settings = {
  name: Type.String({ minLength: 1, maxLength: 100, examples: ['CI'] }),
  expires_at: Type.Optional(
    orNull(Type.String({ maxLength: 100, description: 'Null for a key that does not expire.' })),
  ),
  rate_per_minute: Type.Optional(
    orNull(
      Type.Integer({
        minimum: 1,
        maximum: 100_000,
        description: 'Replaces the limits of the address that requests come from.',
      }),
    ),
  ),
  ...monthlyBudget,
}

const agentRole = Type.Enum(['chat', 'viewer', 'admin'])
const cap = Type.Optional(
  Type.Union([Type.Enum([...roles]), Type.Null()], { description: 'The most that the key may do.' }),
)
const reach = Type.Optional(
  Type.Union([Type.Array(Type.String(), { minItems: 1, maxItems: 100 }), Type.Null()], {
    description: 'Ids of the only agents that the key reaches.',
  }),
)

const changed = { minProperties: 1, examples: [{ name: 'CI' }] }

export const newAgentKeySchema = Type.Object({ ...settings, role: agentRole })
export const agentKeyChangesSchema = Type.Partial(newAgentKeySchema, changed)
export const newPersonalKeySchema = Type.Object({ ...settings, role: cap, agents: reach })
export const personalKeyChangesSchema = Type.Partial(newPersonalKeySchema, changed)

export type NewKey = Static<typeof newPersonalKeySchema>
export type KeyChanges = Partial<NewKey>

export const rotationSchema = Type.Object({
  overlap_hours: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 24,
      description: 'How long the former key counts beside the new one; not at all unless given.',
    }),
  ),
})

const time = Type.String({ format: 'date-time' })

export const keySchema = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    role: orNull(Type.String()),
    agents: orNull(Type.Array(Type.String())),
    rate_per_minute: orNull(Type.Integer()),
    monthly_tokens: orNull(Type.Integer()),
    monthly_usd: orNull(Type.String()),
    hint: Type.String({ description: 'The last four characters of the key.' }),
    creator: Type.String({
      description: 'E-mail address of the person whose rights bound those of the key.',
    }),
    state: Type.Enum(['active', 'expired', 'revoked']),
    created_at: time,
    expires_at: orNull(time),
    last_used_at: orNull(Type.String({ format: 'date-time', description: 'To the minute.' })),
    previous_until: orNull(
      Type.String({ format: 'date-time', description: 'How long the key before the last rotation counts.' }),
    ),
  },
  { title: 'ApiKey' },
)
export type Key = Static<typeof keySchema>

export const keyWithSecretSchema = Type.Object(
  { ...keySchema.properties, key: Type.String({ description: 'Only this answer contains it.' }) },
  { title: 'ApiKeyWithSecret' },
)
