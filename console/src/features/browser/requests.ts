import type { Static } from 'typebox'
import { get, path, post, remove } from '#console/api/request.ts'
import type { Agent } from '#console/shell/agent.tsx'
import type {
  createdSessionSchema,
  linkSchema,
  listedSessionSchema,
  NewSession,
  shownSessionSchema,
} from '#features/browser/sessions/sessions.schema.ts'
import type {
  NewTakeover,
  requestedTakeoverSchema,
  TakeoverRecord,
} from '#features/browser/takeovers/takeovers.schema.ts'

export type ListedSession = Static<typeof listedSessionSchema>
export type Session = Static<typeof shownSessionSchema>
export type { NewSession, NewTakeover, TakeoverRecord }

export const sessionsPath = (agent: Agent) => `${agent.api}/browser`
const sessionPath = (agent: Agent, id: string) => `${sessionsPath(agent)}/${path`${id}`}`

export const listSessions = (agent: Agent) => get<{ sessions: ListedSession[] }>(sessionsPath(agent))
export const getSession = (agent: Agent, id: string) => get<Session>(sessionPath(agent, id))
export const openSession = (agent: Agent) => (body: NewSession) =>
  post<Static<typeof createdSessionSchema>>(sessionsPath(agent), { body })
export const endSession = (agent: Agent) => (id: string) => remove(sessionsPath(agent), { id })
export const getLink = (agent: Agent, id: string) =>
  get<Static<typeof linkSchema>>(`${sessionPath(agent, id)}/live-view`)
export const getTakeover = (agent: Agent, id: string) =>
  get<TakeoverRecord>(`${sessionPath(agent, id)}/takeover`)
export const requestTakeover = (agent: Agent, id: string) => (body: NewTakeover) =>
  post<Static<typeof requestedTakeoverSchema>>(`${sessionPath(agent, id)}/takeover`, { body })
