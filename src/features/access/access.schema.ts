import { type Static, Type } from 'typebox'
import { monthlyBudget } from '#platform/http/monthly-budget.ts'
import { orNull } from '#platform/own-schemas.ts'
import { type Permission, permissions, roles } from './policy.ts'

/*
 * User: a person named by the identity gateway. Admin entry: makes a user's e-mail owner, admin or viewer of one
 * agent. Permission: what a caller may do on an agent, by an admin entry or, on `default`, by the public access setting.
 */

export const adminSchema = Type.Object(
  {
    id: Type.String(),
    email: Type.String({ format: 'email' }),
    role: Type.Enum([...roles]),
    created_at: Type.String({ format: 'date-time' }),
    ...monthlyBudget,
    proved_by: Type.Optional(
      Type.Unsafe<string | null>({
        type: ['string', 'null'],
        enum: ['operator', 'mail', 'oidc', 'gateway', 'dev_user', null],
        description: 'How the address was proved last; null if it is not. Shown to owners.',
      }),
    ),
    invited_by: Type.Optional(
      orNull(
        Type.String({
          description: 'Who sent the last invitation that the person accepted. Shown to owners.',
        }),
      ),
    ),
  },
  { title: 'AdminEntry' },
)
export type AdminEntry = Static<typeof adminSchema>

export const addedAdminSchema = Type.Object(
  {
    ...adminSchema.properties,
    hint: Type.Optional(
      Type.String({ description: 'What is left to do, for an address that is not proved.' }),
    ),
  },
  { title: 'AddedAdminEntry' },
)

export const newAdminSchema = Type.Object({
  email: Type.String({ format: 'email', maxLength: 320, examples: ['ada@example.com'] }),
  role: Type.Enum([...roles]),
})
export type NewAdmin = Static<typeof newAdminSchema>

/** The budget of a person. Role and address are changed by a new entry. */
export const adminChangesSchema = Type.Object(monthlyBudget, {
  minProperties: 1,
  examples: [{ monthly_tokens: 1_000_000 }],
})
export type AdminChanges = Static<typeof adminChangesSchema>

export const ownAgentSchema = Type.Object({
  id: Type.String(),
  name: Type.String(),
  role: Type.String(),
  power: Type.Unsafe<Exclude<Permission, 'member'> | null>({
    type: ['string', 'null'],
    enum: [...permissions.filter(permission => permission !== 'member'), null],
    description:
      'What the caller may do: `chat` in own conversations alone, `viewer` reads, `chatter` also chats, `admin` also changes, `owner` everything; null for a key of the role `chat` whose creator may only read.',
  }),
})
