import { type Static, Type } from 'typebox'
import { orNull } from '#platform/own-schemas.ts'

/*
 * Session: the sign-in of one browser, known by a cookie. Link: signs a person in once. Account: a person at the identity
 * provider. Invitation: a link that also gives roles.
 */

const vias = ['gateway', 'dev_user', 'key', 'session'] as const
type Via = (typeof vias)[number]
const time = Type.String({ format: 'date-time' })
const user = Type.Object({ email: Type.String(), name: orNull(Type.String()) })

export const meSchema = Type.Object(
  {
    user: orNull(user),
    /** The way the caller is identified; null for callers without a user. */
    via: Type.Unsafe<Via | null>({ type: ['string', 'null'], enum: [...vias, null] }),
    public_access: Type.Enum(['full', 'chat', 'read']),
    identity_provider: orNull(Type.String()),
    version: Type.String(),
  },
  { title: 'Me' },
)
export const personSchema = Type.Object({ user })
export const signedOutSchema = Type.Object({ success: Type.Boolean() })
export const linkSchema = Type.Object({
  token: Type.String({ minLength: 1, maxLength: 200, examples: ['dGhlIHBhcnQgYmVoaW5kIHRva2VuPQ'] }),
})

export const signInSchema = {
  summary: 'Send a browser to sign in',
  tags: ['Sign-in'],
  querystring: Type.Object({
    // Browsers store it in a cookie until the provider redirects back, and drop cookies above 4 kB.
    return_to: Type.Optional(Type.String({ maxLength: 2000, description: 'A path of this service.' })),
  }),
  response: { 302: Type.Null({ description: 'To the identity provider, or to `/sign-in` without one.' }) },
}

export const sessionSchema = Type.Object(
  {
    id: Type.String(),
    user_agent: orNull(Type.String()),
    created_at: time,
    last_used_at: time,
    expires_at: time,
    current: Type.Boolean({ description: 'Whether it is that of this request.' }),
  },
  { title: 'Session' },
)

const role = Type.Enum(['owner', 'admin', 'viewer', 'chat'])
const agent = Type.Object({ id: Type.String({ minLength: 1, maxLength: 500 }), role })

export const newInvitationSchema = Type.Object({
  email: Type.String({ format: 'email', maxLength: 320, examples: ['ada@example.com'] }),
  agents: Type.Array(agent, { minItems: 1, maxItems: 100, examples: [[{ id: 'default', role: 'viewer' }]] }),
})
export type NewInvitation = Static<typeof newInvitationSchema>

const invitation = {
  id: Type.String(),
  email: Type.String(),
  agents: Type.Array(agent),
  invited_by: Type.String(),
  created_at: time,
  expires_at: time,
}
export const invitationSchema = Type.Object(invitation, { title: 'Invitation' })
export const createdInvitationSchema = Type.Object(
  {
    ...invitation,
    sent: Type.Boolean({ description: 'Whether the link was sent by mail.' }),
    url: orNull(Type.String({ description: 'The link, shown once; null if it was sent by mail.' })),
  },
  { title: 'CreatedInvitation' },
)
