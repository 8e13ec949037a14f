import { queryOptions } from '@tanstack/react-query'
import type { Static } from 'typebox'
import type { meSchema } from '#features/sign-in/sign-in.schema.ts'
import { send } from './client.ts'
import { calledVia } from './curl.ts'
import { query } from './query.ts'
import { get } from './request.ts'

/** The caller, how the caller is known, and what callers without a user may do on `default`. */
export type Caller = Static<typeof meSchema>

/** Fetched once, when the console is opened: its key is no path because no change of an agent changes it. */
export const callerQuery = queryOptions({
  queryKey: ['caller'],
  staleTime: Number.POSITIVE_INFINITY,
  queryFn: async () => {
    const caller = await send(get<Caller>('/api/auth/me'), { isShown: false })
    calledVia.set(caller.via)
    return caller
  },
})

export interface AgentRow {
  id: string
  name: string
  description: string
  status: 'active' | 'paused' | 'disabled'
  owner_email: string | null
  created_at: string
  updated_at: string
}

/** The caller's own entry on an agent. */
export interface OwnEntry {
  id: string
  name: string
  role: string
  power?: string
}

/** Higher than any person's number of agents. */
const limit = 1000
const isShown = false

/** The agents that the caller can reach. */
export const agentsQuery = query(get<{ agents: AgentRow[] }>('/api/agents', { limit, sort: 'name' }), {
  isShown,
})
export const ownAgentsQuery = query(get<{ agents: OwnEntry[] }>('/api/auth/agents', { limit }), { isShown })

/** Abilities: `read` sees the agent, `talk` chats, `change` sets it up, `own` deletes and shares it. */
export type Ability = 'any' | 'read' | 'talk' | 'change' | 'own'

/** Abilities by the permission or role that the server names. */
const abilities: Record<string, readonly Ability[]> = {
  owner: ['any', 'read', 'talk', 'change', 'own'],
  admin: ['any', 'read', 'talk', 'change'],
  chatter: ['any', 'read', 'talk'],
  viewer: ['any', 'read'],
  chat: ['any', 'talk'],
}
const publicPermissions = { full: 'admin', chat: 'chatter', read: 'viewer' } as const

export function abilitiesOn(agentId: string, own: readonly OwnEntry[], caller: Caller): readonly Ability[] {
  const entry = own.find(({ id }) => id === agentId)
  const permission =
    entry?.power ?? entry?.role ?? (agentId === 'default' ? publicPermissions[caller.public_access] : '')
  return abilities[permission] ?? []
}
