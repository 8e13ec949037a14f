import { useQuery } from '@tanstack/react-query'
import { createContext, useContext } from 'react'
import {
  type Ability,
  type AgentRow,
  abilitiesOn,
  agentsQuery,
  type Caller,
  callerQuery,
  type OwnEntry,
  ownAgentsQuery,
} from '#console/api/caller.ts'
import { queryClient } from '#console/api/query.ts'
import { path } from '#console/api/request.ts'

/** The agent whose views are shown, with the caller's abilities. */
export interface Agent extends AgentRow {
  /** The prefix of each call's path: `${agent.api}/sources`. */
  api: string
  /** The prefix of each view's address: `${agent.home}/knowledge`. */
  home: string
  may(ability: Ability): boolean
}

interface Known {
  caller: Caller | undefined
  agents: readonly AgentRow[] | undefined
  own: readonly OwnEntry[] | undefined
}

/** Returns the agent; undefined if none has that id, or if the caller has no access to it. */
export function agentOf(id: string, { caller, agents, own = [] }: Known): Agent | undefined {
  const row = agents?.find(agent => agent.id === id)
  if (row === undefined || caller === undefined) return undefined
  const abilities = abilitiesOn(id, own, caller)
  return {
    ...row,
    api: path`/api/agents/${id}`,
    home: path`/a/${id}`,
    may: ability => abilities.includes(ability),
  }
}

/** Loads the caller and the agents. */
export async function loadAgent(id: string): Promise<Agent | undefined> {
  const [caller, { agents }, { agents: own }] = await Promise.all([
    queryClient.ensureQueryData(callerQuery),
    queryClient.ensureQueryData(agentsQuery),
    queryClient.ensureQueryData(ownAgentsQuery),
  ])
  return agentOf(id, { caller, agents, own })
}

export const AgentContext = createContext<Agent | undefined>(undefined)

/** Returns a check of the caller's abilities on any agent; `useAgent().may` checks the shown one. */
export function useMay(): (agentId: string, ability: Ability) => boolean {
  const caller = useQuery(callerQuery).data
  const own = useQuery(ownAgentsQuery).data?.agents ?? []
  return (agentId, ability) => caller !== undefined && abilitiesOn(agentId, own, caller).includes(ability)
}

/** The agent whose views are shown. */
export function useAgent(): Agent {
  const agent = useContext(AgentContext)
  if (agent === undefined) throw new Error('This component is rendered outside of an agent’s views.')
  return agent
}
