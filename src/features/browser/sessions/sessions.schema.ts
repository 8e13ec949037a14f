import { type Static, Type } from 'typebox'
import { orNull } from '#platform/own-schemas.ts'
import { sessionStatuses } from './session-status.ts'

const time = Type.String({ format: 'date-time' })

export const profileName = Type.String({
  pattern: '^[\\w.-]{1,64}$',
  description: 'Letters, digits, `_`, `.` and `-`.',
})

export const viewportSchema = Type.Object({
  width: Type.Integer({ minimum: 100, maximum: 4096 }),
  height: Type.Integer({ minimum: 100, maximum: 4096 }),
})
export type Viewport = Static<typeof viewportSchema>

export const newSessionSchema = Type.Object({
  headless: Type.Optional(
    Type.Boolean({
      description: 'Whether the browser has no window. `false` needs CHROMIUM_PATH and DISPLAY.',
    }),
  ),
  viewport: Type.Optional(viewportSchema),
  user_agent: Type.Optional(Type.String({ pattern: '^[\\x20-\\x7e]{1,512}$' })),
  profile: Type.Optional(profileName),
  record: Type.Optional(Type.Boolean({ description: 'Whether the pages are recorded for replay.' })),
})
export type NewSession = Static<typeof newSessionSchema>

const inLists = {
  id: Type.String(),
  status: Type.Enum([...sessionStatuses]),
  headless: Type.Boolean(),
  viewport: viewportSchema,
  created_at: time,
  last_activity: time,
}

export const sessionSchema = Type.Object(
  { ...inLists, user_agent: Type.String(), profile: orNull(Type.String()) },
  { title: 'BrowserSession' },
)
export type SessionRecord = Static<typeof sessionSchema>

export const shownSessionSchema = Type.Object({
  ...sessionSchema.properties,
  recording: orNull(Type.Object({ size: Type.Integer(), started_at: time, ended_at: time })),
})

export const listedSessionSchema = Type.Object(inLists)

export const createdSessionSchema = Type.Object({
  id: Type.String(),
  status: Type.Enum([...sessionStatuses]),
  live_view_url: Type.String(),
  created_at: time,
})

export const linkSchema = Type.Object({ url: Type.String(), expires_at: time })

export const profileSchema = Type.Object(
  {
    name: Type.String(),
    size: Type.Integer({ description: 'Size of cookies and storage in bytes.' }),
    note: orNull(Type.String({ description: 'Data that was not saved, and the reason.' })),
    created_at: time,
    updated_at: time,
  },
  { title: 'BrowserProfile' },
)
export type Profile = Static<typeof profileSchema>
