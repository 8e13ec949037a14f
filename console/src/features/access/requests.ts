import type { Static } from 'typebox'
import { get, path, post, put, remove } from '#console/api/request.ts'
import type { AdminEntry, addedAdminSchema } from '#features/access/access.schema.ts'
import type { Key, keyWithSecretSchema } from '#features/access/keys/keys.schema.ts'
import type {
  createdInvitationSchema,
  invitationSchema,
  sessionSchema,
} from '#features/sign-in/sign-in.schema.ts'

export type { AdminEntry, Key }
export type Invitation = Static<typeof invitationSchema>
export type Session = Static<typeof sessionSchema>
type WithSecret = Static<typeof keyWithSecretSchema>

export const listAdmins = (admins: string) => get<{ admins: AdminEntry[] }>(admins)
export const addAdmin = (admins: string) => (body: object) =>
  post<Static<typeof addedAdminSchema>>(admins, { body })
export const changeAdmin = (admins: string, id: string) => (body: object) =>
  put<AdminEntry>(`${admins}${path`/${id}`}`, { body })
export const removeAdmin = (admins: string) => (id: string) => remove(`${admins}${path`/${id}`}`)

export const signOutAdmin = (admins: string) => (id: string) =>
  post<{ success: boolean }>(`${admins}${path`/${id}`}/sign-out`)

export const invitations = '/api/invitations'
export const listInvitations = get<{ invitations: Invitation[] }>(invitations)
export const invite = (body: object) => post<Static<typeof createdInvitationSchema>>(invitations, { body })
export const withdraw = (id: string) => remove(`${invitations}${path`/${id}`}`)

/** Lists the keys of an agent or of a person, by the path of the list. */
export const listKeys = (keys: string) => get<{ keys: Key[] }>(keys)
export const createKey = (keys: string) => (body: object) => post<WithSecret>(keys, { body })
export const changeKey = (keys: string, id: string) => (body: object) =>
  put<Key>(`${keys}${path`/${id}`}`, { body })
export const rotateKey = (keys: string, id: string) => (body: object) =>
  post<WithSecret>(`${keys}${path`/${id}`}/rotate`, { body })
export const deleteKey = (keys: string) => (id: string) => remove(`${keys}${path`/${id}`}`)

export const sessions = '/api/auth/sessions'
export const listSessions = get<{ sessions: Session[] }>(sessions)
export const endSession = (id: string) => remove(`${sessions}${path`/${id}`}`)
export const endSessions = () => remove(sessions)
