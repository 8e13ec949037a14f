import { type Static, Type } from 'typebox'
import { orNull } from '#platform/own-schemas.ts'

const time = Type.String({ format: 'date-time' })

/** Max duration of a takeover in seconds, extensions included. */
export const maxSeconds = 3600

export const newTakeoverSchema = Type.Object({
  reason: Type.String({ minLength: 1, maxLength: 1000, examples: ['Sign in to the shop, please'] }),
  timeout: Type.Optional(
    Type.Integer({ minimum: 1, maximum: maxSeconds, description: 'Time-out in seconds. Default: 300.' }),
  ),
})
export type NewTakeover = Static<typeof newTakeoverSchema>

const status = Type.Enum(['pending', 'active'])

export const requestedTakeoverSchema = Type.Object({
  takeover_id: Type.String(),
  status,
  takeover_url: Type.String(),
  expires_at: time,
})

export const takeoverSchema = Type.Object(
  {
    takeover_id: Type.String(),
    status,
    reason: Type.String(),
    requested_by: Type.String({
      description: 'An e-mail address, `agent`, or `api` if the caller has no user.',
    }),
    requested_at: time,
    expires_at: time,
    driver: orNull(Type.String({ description: 'Who controls the session.' })),
    hidden: Type.Boolean({
      description: 'Whether only the person who controls the session sees its picture.',
    }),
    takeover_url: orNull(Type.String({ description: 'Null if the caller may not control the session.' })),
  },
  { title: 'BrowserTakeover' },
)
export type TakeoverRecord = Static<typeof takeoverSchema>

export const endTakeoverSchema = Type.Object({ note: Type.Optional(Type.String({ maxLength: 2000 })) })
