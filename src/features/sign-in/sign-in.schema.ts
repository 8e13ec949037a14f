import { Type } from 'typebox'

/*
 * Session: the sign-in of one browser, known by a cookie. Link: signs a person in once. Invitation: a link that also gives
 * roles.
 */

export const meSchema = Type.Object(
  {
    user: Type.Union([
      Type.Object({ email: Type.String(), name: Type.Union([Type.String(), Type.Null()]) }),
      Type.Null(),
    ]),
    /** How the caller is known; null for callers without a user. */
    via: Type.Union([Type.Enum(['gateway', 'dev_user', 'key', 'session']), Type.Null()]),
    public_access: Type.Enum(['full', 'chat', 'read']),
    version: Type.String(),
  },
  { title: 'Me' },
)
